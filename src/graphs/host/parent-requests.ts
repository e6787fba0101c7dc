import type { TenantId } from '../../database/tenant-id';
import type { TextKind } from '../../item-store/item-store';
import type { CipherQuestion, ToProcess } from './protocol';
import type { StoreQuestion } from './store-operations';

type Question = Omit<CipherQuestion, 'request'> | Omit<StoreQuestion, 'request'>;
type Answer = Extract<ToProcess, { type: 'cipher-result' | 'store-result' }>;

/** Questions of a graph process to its parent that wait for their answers. */
export class ParentRequests {
  private readonly waiting = new Map<number, PromiseWithResolvers<unknown>>();
  private nextRequest = 1;

  constructor(private readonly send: (question: CipherQuestion | StoreQuestion) => void) {}

  /** @throws with the parent's reason when it can't answer */
  ask(question: Question): Promise<unknown> {
    const request = this.nextRequest++;
    const answer = Promise.withResolvers<unknown>();
    this.waiting.set(request, answer);
    this.send({ ...question, request });
    return answer.promise;
  }

  answered(answer: Answer): void {
    const waiting = this.waiting.get(answer.request);
    this.waiting.delete(answer.request);
    if ('error' in answer) waiting?.reject(new Error(answer.error));
    else waiting?.resolve('values' in answer ? answer.values : answer.value);
  }
}

/** The embedding function of a graph process that is in another language than the function: its parent asks a process of that one. */
export class ParentEmbeddings {
  constructor(private readonly parent: ParentRequests) {}

  async embed(tenantId: TenantId, kind: TextKind, texts: string[]): Promise<number[][]> {
    const operation = { name: 'embed', kind, texts };
    return (await this.parent.ask({ type: 'store', tenantId, operation })) as number[][];
  }
}
