import '@xyflow/react/dist/base.css';
import dagre from '@dagrejs/dagre';
import { useQuery } from '@tanstack/react-query';
import { Background, Controls, type Edge, type Node, Position, ReactFlow } from '@xyflow/react';
import { useMemo } from 'react';
import { sdk } from '../../api/sdk';
import { ErrorBox, Loading } from '../../ui/feedback';

const NODE = { width: 150, height: 36 };

interface GraphData {
  nodes: { id: string | number; data?: unknown }[];
  edges: { source: string; target: string; conditional?: boolean }[];
}

/** Places the nodes in layers, from the first to the last. */
function layOut({ nodes, edges }: GraphData, taken: ReadonlySet<string>): { nodes: Node[]; edges: Edge[] } {
  const graph = new dagre.graphlib.Graph();
  graph.setGraph({ rankdir: 'TB', nodesep: 40, ranksep: 48 });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const { id } of nodes) graph.setNode(String(id), { ...NODE });
  for (const { source, target } of edges) graph.setEdge(source, target);
  dagre.layout(graph);
  const isTaken = (id: string): boolean =>
    taken.has(id) || (taken.size > 0 && (id === '__start__' || id === '__end__'));
  return {
    nodes: nodes.map(({ id }) => {
      const { x, y } = graph.node(String(id)) as { x: number; y: number };
      const look = isTaken(String(id))
        ? 'border-accent bg-accent-soft text-ink'
        : 'border-strong-line bg-surface text-soft';
      return {
        id: String(id),
        position: { x: x - NODE.width / 2, y: y - NODE.height / 2 },
        data: { label: String(id).replace(/^__(\w+)__$/, '$1') },
        sourcePosition: Position.Bottom,
        targetPosition: Position.Top,
        width: NODE.width,
        height: NODE.height,
        className: `flex items-center justify-center rounded-md border text-xs font-medium ${look}`,
      };
    }),
    edges: edges.map(({ source, target, conditional }) => ({
      id: `${source}-${target}`,
      source,
      target,
      animated: false,
      style: {
        stroke: isTaken(source) && isTaken(target) ? 'var(--color-accent)' : 'var(--color-strong-line)',
        strokeDasharray: conditional ? '4 4' : undefined,
      },
    })),
  };
}

/** The graph of an assistant, with the nodes that a run has been through. */
export default function RunGraph({ assistantId, taken }: { assistantId: string; taken: string[] }) {
  const graph = useQuery({
    queryKey: ['graph', assistantId],
    queryFn: async () => (await sdk.assistants.getGraph(assistantId)) as unknown as GraphData,
    staleTime: Infinity,
  });
  const key = taken.join();
  const placed = useMemo(() => graph.data && layOut(graph.data, new Set(key ? key.split(',') : [])), [graph.data, key]);
  if (graph.isError) return <ErrorBox error={graph.error} />;
  if (!placed) return <Loading />;
  return (
    <div className="card h-[28rem]">
      <ReactFlow
        nodes={placed.nodes}
        edges={placed.edges}
        fitView
        nodesDraggable={false}
        nodesConnectable={false}
        proOptions={{ hideAttribution: false }}
      >
        <Background color="var(--color-line)" />
        <Controls showInteractive={false} />
      </ReactFlow>
    </div>
  );
}
