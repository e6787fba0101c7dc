import type { z } from 'zod';
import { contentOf, type Found, type ObjectStore } from '../../storage/object-store';
import { explainStoreError, type StoreError, type StoreProblem } from '../../storage/store-error';
import { textOf } from '../../storage/bounded-answer';
import type { destinationCheckSchema } from './destinations.schemas';

export type DestinationCheck = z.output<typeof destinationCheckSchema>;
type Operation = DestinationCheck['operation'];

const CONTENT = 'Gantry wrote this to test the destination. It may be deleted.\n';

/** Consequence for exports where an operation is not permitted. */
const WITHOUT: Record<Operation, { isRequired: boolean; consequence: string }> = {
  write: { isRequired: true, consequence: 'Exports fail.' },
  read: {
    isRequired: false,
    consequence: 'Sizes and row counts are not verified, files have no preview, and the manifest says so.',
  },
  delete: {
    isRequired: false,
    consequence:
      'The test object stays under tmp/. A store that also refuses to replace an object fails an export whose part has to be written again.',
  },
};

/** Writes, reads and deletes one object. The later steps need the object, so they are skipped if it could not be written. */
export async function checkDestination(store: ObjectStore, key: string): Promise<DestinationCheck[]> {
  const { permissions } = store;
  const write = await outcomeOf(async () => void (await store.put(key, contentOf(Buffer.from(CONTENT)))));
  if (write) return withoutObject(write, permissions);
  const read = await outcomeOf(async () => readProblem(await textAt(store, key)));
  const deletion = await outcomeOf(async () => ((await store.delete([key])).length > 0 ? KEPT : undefined));
  return [
    check('write', permissions.write, undefined),
    check('read', permissions.read, read),
    check('delete', permissions.delete, deletion),
  ];
}

/** The checks of a store that no request can be sent to. */
export function unopened({ problem }: StoreError): DestinationCheck[] {
  return withoutObject(problem, { write: null, read: null, delete: null });
}

const KEPT: StoreProblem = {
  code: 'NotDeleted',
  message: 'The store keeps the object: deleting is not permitted, or the object is locked',
  hint: 'Grant the permission on the prefix, unless objects are locked or kept on purpose.',
  isUserFault: true,
};
const FORBIDDEN: StoreProblem = {
  code: 'AccessDenied',
  message: 'Access denied: the credentials may not read from this bucket',
  hint: 'Grant the permission on the prefix, with that to decrypt if the bucket has a key of its own.',
  isUserFault: true,
};
const CHANGED: StoreProblem = {
  code: 'ContentChanged',
  message: 'The store does not return what was written to it',
  hint: 'Check what else writes to the bucket, and whether a proxy in front of it caches or changes answers.',
  isUserFault: true,
};

function readProblem(read: Found<string>): StoreProblem | undefined {
  if (read.state === 'forbidden') return FORBIDDEN;
  return read.state === 'found' && read.value === CONTENT ? undefined : CHANGED;
}

async function textAt(store: ObjectStore, key: string): Promise<Found<string>> {
  const object = await store.read(key);
  return object.state === 'found' ? { state: 'found', value: await textOf(object.value) } : object;
}

async function outcomeOf(work: () => Promise<StoreProblem | undefined>): Promise<StoreProblem | undefined> {
  try {
    return await work();
  } catch (error) {
    return explainStoreError(error);
  }
}

function withoutObject(problem: StoreProblem, names: Record<Operation, string | null>): DestinationCheck[] {
  const skipped = (operation: Operation): DestinationCheck => ({
    ...check(operation, names[operation], undefined),
    state: 'skipped',
  });
  return [check('write', names.write, problem), skipped('read'), skipped('delete')];
}

function check(operation: Operation, permission: string | null, problem: StoreProblem | undefined): DestinationCheck {
  const { isRequired, consequence } = WITHOUT[operation];
  return {
    operation,
    permission,
    required: isRequired,
    state: problem ? 'failed' : 'passed',
    error: problem?.message ?? null,
    error_code: problem?.code ?? null,
    error_hint: problem?.hint ?? null,
    consequence: problem ? consequence : null,
  };
}
