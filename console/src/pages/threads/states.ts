import type { sdk } from '../../api/sdk';

/** A state of a thread or of a nested graph, at one of its checkpoints. */
export type State = Awaited<ReturnType<typeof sdk.threads.getHistory>>[number];

export const idOf = (state: State): string => state.checkpoint.checkpoint_id ?? '';

interface StepMetadata {
  step?: number;
  source?: string;
  run_id?: string;
}

export const metadataOf = ({ metadata }: State): StepMetadata => (metadata ?? {}) as StepMetadata;
