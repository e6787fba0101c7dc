import { streamedModels } from '../../patches/langchain-core/streamed-models';
import { untracedRuns } from '../../patches/langchain-core/untraced-runs';
import { answeredTasks } from '../../patches/langgraph/answered-tasks';
import { oneAtOnce } from '../../patches/langgraph/one-at-once';
import { storedSteps } from '../../patches/langgraph/stored-steps';
import { nativeIds } from '../../patches/langgraph-checkpoint/native-ids';
import type { SourcePatch } from './patched-sources';

/** All changes of sources. Each matches all supported versions of its library, as test/apps/library-versions.test.ts checks. */
export const SOURCE_PATCHES: SourcePatch[] = [
  nativeIds,
  oneAtOnce,
  answeredTasks,
  storedSteps,
  untracedRuns,
  streamedModels,
];
