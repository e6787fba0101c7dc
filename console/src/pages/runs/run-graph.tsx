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

/** The path that a run took: the nodes of each of its steps, in order. */
export interface Path {
  steps: readonly (readonly string[])[];
  /** Whether the run reached the end of the graph. */
  isComplete: boolean;
}

const edgeId = (source: string, target: string): string => `${source}-${target}`;

/** Ids of the nodes and edges of a path. Steps without nodes, such as that of the input, are no part of it. */
function partsOf(path: Path | undefined): ReadonlySet<string> {
  const steps = path?.steps.filter((nodes) => nodes.length > 0) ?? [];
  if (steps.length === 0) return new Set();
  const all = [['__start__'], ...steps, ...(path!.isComplete ? [['__end__']] : [])];
  const edges = all.slice(1).flatMap((targets, index) => {
    return all[index].flatMap((source) => targets.map((target) => edgeId(source, target)));
  });
  return new Set([...all.flat(), ...edges]);
}

/** Places the nodes in layers, from the first to the last. */
function layOut({ nodes, edges }: GraphData, taken: ReadonlySet<string>): { nodes: Node[]; edges: Edge[] } {
  const graph = new dagre.graphlib.Graph();
  graph.setGraph({ rankdir: 'TB', nodesep: 40, ranksep: 48 });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const { id } of nodes) graph.setNode(String(id), { ...NODE });
  for (const { source, target } of edges) graph.setEdge(source, target);
  dagre.layout(graph);
  return {
    nodes: nodes.map(({ id }) => {
      const { x, y } = graph.node(String(id)) as { x: number; y: number };
      const look = taken.has(String(id))
        ? 'taken border-accent bg-accent-soft text-ink'
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
      id: edgeId(source, target),
      source,
      target,
      animated: false,
      className: taken.has(edgeId(source, target)) ? 'taken' : '',
      style: {
        stroke: taken.has(edgeId(source, target)) ? 'var(--color-accent)' : 'var(--color-strong-line)',
        strokeDasharray: conditional ? '4 4' : undefined,
      },
    })),
  };
}

/** The graph of an assistant, with the path that a run took. */
export default function RunGraph({ assistantId, path }: { assistantId: string; path?: Path }) {
  const graph = useQuery({
    queryKey: ['graph', assistantId],
    queryFn: async () => (await sdk.assistants.getGraph(assistantId)) as unknown as GraphData,
    staleTime: Infinity,
  });
  const key = JSON.stringify(path);
  const placed = useMemo(
    () => graph.data && layOut(graph.data, partsOf(key ? (JSON.parse(key) as Path) : undefined)),
    [graph.data, key],
  );
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
