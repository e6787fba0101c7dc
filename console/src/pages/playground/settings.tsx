import { useQuery } from '@tanstack/react-query';
import { schemasQuery } from '../../api/graph-schemas';
import { ErrorBox, Loading } from '../../ui/feedback';
import type { JsonSchema } from '../../ui/json-schema';
import { Section } from '../../ui/page';
import { SchemaForm } from '../../ui/schema-form';
import { type RunOptions, STRATEGIES } from './run-options';

const STRATEGY_TEXTS: Record<RunOptions['strategy'], string> = {
  enqueue: 'Wait for the run that is on',
  reject: 'Refuse a second run',
  interrupt: 'Stop the run that is on, keep what it did',
  rollback: 'Stop the run that is on, undo what it did',
};

const hasFields = (schema: JsonSchema | null | undefined): schema is JsonSchema =>
  Object.keys(schema?.properties ?? {}).length > 0;

interface Props {
  assistantId: string;
  options: RunOptions;
  onChange: (options: RunOptions) => void;
}

/** Configuration of the next runs: forms made from the graph's own schemas. */
export function Settings({ assistantId, options, onChange }: Props) {
  const schemas = useQuery(schemasQuery(assistantId));
  const config = schemas.data?.config_schema;
  const context = schemas.data?.context_schema;
  return (
    <aside
      aria-label="Configuration"
      className="w-80 shrink-0 space-y-6 overflow-auto border-l border-line bg-side p-4"
    >
      <Section title="When a run is on">
        <select
          aria-label="Strategy"
          className="field"
          value={options.strategy}
          onChange={({ target }) => onChange({ ...options, strategy: target.value as RunOptions['strategy'] })}
        >
          {STRATEGIES.map((each) => (
            <option key={each} value={each}>
              {each}: {STRATEGY_TEXTS[each]}
            </option>
          ))}
        </select>
      </Section>
      {schemas.isPending && <Loading lines={3} />}
      {schemas.isError && <ErrorBox error={schemas.error} />}
      {hasFields(context) && (
        <Section title="Context">
          <SchemaForm
            schema={context}
            value={options.context}
            onChange={(value) => onChange({ ...options, context: value })}
          />
        </Section>
      )}
      {!hasFields(context) && (
        <Section title="Configurable">
          <SchemaForm
            schema={hasFields(config) ? config : {}}
            value={options.config}
            onChange={(value) => onChange({ ...options, config: value })}
          />
        </Section>
      )}
    </aside>
  );
}
