import { z } from 'zod';
import {
  type Cipher,
  currentCipher,
  type EncryptionContext,
  givenEncryptionContext,
  type SealOperation,
} from '../../database/at-rest';
import type { ParentRequests } from './parent-requests';
import type { CipherQuestion, ToProcess } from './protocol';

type CipherAnswer = Extract<ToProcess, { type: 'cipher-result' }>;

/** The cipher of a graph process, which has neither the handlers nor their keys: its parent encrypts. */
export class ParentCipher implements Cipher {
  constructor(private readonly parent: ParentRequests) {}

  async seal(operations: SealOperation[]): Promise<unknown[]> {
    if (operations.length === 0) return [];
    const context = await this.context();
    return this.ask({ seal: operations.map((operation) => ({ context, ...operation })) });
  }

  open(values: unknown[]): Promise<unknown[]> {
    return this.ask({ open: values });
  }

  context(): Promise<EncryptionContext> {
    return Promise.resolve(givenEncryptionContext() ?? {});
  }

  private async ask(question: Pick<CipherQuestion, 'seal' | 'open'>): Promise<unknown[]> {
    return (await this.parent.ask({ type: 'cipher', ...question })) as unknown[];
  }
}

const operationsSchema = z.array(
  z.object({
    form: z.enum(['json', 'bytes']),
    model: z.literal(['checkpoint', 'store']),
    field: z.string(),
    value: z.unknown(),
    context: z.record(z.string(), z.unknown()),
  }),
);

/** Does what a graph process asks for; why it can't be done is part of the answer. */
export async function answerCipherQuestion({ request, seal, open }: CipherQuestion): Promise<CipherAnswer> {
  try {
    const cipher = currentCipher();
    if (!cipher) throw new Error('langgraph.json names no encryption');
    const values =
      seal === undefined
        ? await cipher.open(z.array(z.unknown()).parse(open))
        : await cipher.seal(operationsSchema.parse(seal));
    return { type: 'cipher-result', request, values };
  } catch (error) {
    return { type: 'cipher-result', request, error: error instanceof Error ? error.message : String(error) };
  }
}
