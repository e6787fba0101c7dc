import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { checkpointKey } from '../../database/checkpoint-key';
import { columnsOf } from '../../database/entity-columns';
import { CHECKPOINT_SCHEMA } from '../../database/schemas';
import { RunOrchestrator } from '../../temporal/run-orchestrator';
import { RunEntity } from '../run.entity';
import { explainRun, type RunExplanation } from './explain-run';
import type { RunFacts, StoredFacts, TemporalFacts } from './run-facts';

const TEMPORAL_TIMEOUT_MS = 3_000;
const EVENTS_SHOWN = 5;

type RunRow = RunEntity & Pick<StoredFacts, 'lostAttempts' | 'threadStatus' | 'asks'>;

const unknownRun = (runId: string): string =>
  `There is no run ${runId} in this database. Either the run was deleted (with its thread, by a rollback, or an hour ` +
  'after its end if it had no thread), or another Gantry has it: see DATABASE_URL and GANTRY_HOME.';

/** Finds the state of a run and its cause for an operator: across tenants, in the database and in Temporal. */
@Injectable()
export class RunExplanationService {
  constructor(
    @InjectDataSource() private readonly database: DataSource,
    private readonly orchestrator: RunOrchestrator,
  ) {}

  /** @throws for an unknown run */
  async explain(runId: string): Promise<RunFacts & { explanation: RunExplanation }> {
    const [run]: RunRow[] = await this.database.query(
      `SELECT ${columnsOf(RunEntity, 'r')}, r.lost_attempts + r.lost_in_company AS "lostAttempts",
         coalesce(t.status, 'deleted') AS "threadStatus",
         coalesce(t.interrupts <> '{}', false) AND NOT EXISTS (
           SELECT FROM runs later
           WHERE later.tenant_id = r.tenant_id AND later.thread_id = r.thread_id AND later.run_id > r.run_id
         ) AS asks
       FROM runs r LEFT JOIN threads t USING (tenant_id, thread_id) WHERE r.run_id = $1`,
      [runId],
    );
    if (!run) throw new Error(unknownRun(runId));
    const [stored, temporal] = await Promise.all([this.stored(run), this.temporal(runId)]);
    const facts = { ...stored, temporal, now: new Date() };
    return { ...facts, explanation: explainRun(facts) };
  }

  private async stored({ lostAttempts, threadStatus, asks, ...run }: RunRow): Promise<StoredFacts> {
    const { runId, tenantId, threadId, scheduledAt } = run;
    const [ahead, lastEvents, checkpoint, delivery] = await Promise.all([
      this.find<NonNullable<StoredFacts['ahead']>>(
        `SELECT run_id AS "runId", status FROM runs
         WHERE tenant_id = $1 AND thread_id = $2 AND run_id <> $3 AND (status = 'running'
           OR (status = 'pending' AND (scheduled_at, run_id) < ($4, $3)))
         ORDER BY status = 'running' DESC, scheduled_at LIMIT 1`,
        [tenantId, threadId, runId, scheduledAt],
      ),
      this.find<StoredFacts['lastEvents'][number]>(
        `SELECT seq, event FROM (
           SELECT each.seq, event
           FROM (SELECT * FROM run_events WHERE run_id = $1 ORDER BY seq DESC LIMIT ${EVENTS_SHOWN}) AS newest,
                generate_series(coalesce(first_seq, newest.seq), newest.seq) AS each (seq)
           ORDER BY each.seq DESC LIMIT ${EVENTS_SHOWN}
         ) AS newest ORDER BY seq`,
        [runId],
      ),
      this.find<NonNullable<StoredFacts['checkpoint']>>(
        `SELECT checkpoint_id AS id, checkpoint->>'ts' AS time FROM ${CHECKPOINT_SCHEMA}.checkpoints
         WHERE thread_id = $1 AND checkpoint_ns = '' ORDER BY checkpoint_id DESC LIMIT 1`,
        [checkpointKey(tenantId, threadId)],
      ),
      this.find<NonNullable<StoredFacts['delivery']>>(
        `SELECT delivery_id AS "deliveryId", status, (
           SELECT count(*)::int FROM webhook_attempts a WHERE a.delivery_id = d.delivery_id
         ) AS attempts FROM webhook_deliveries d
         WHERE tenant_id = $1 AND run_id = $2 AND kind = 'run' ORDER BY delivery_id LIMIT 1`,
        [tenantId, runId],
      ),
    ]);
    return {
      run,
      lostAttempts,
      threadStatus,
      asks,
      ahead: ahead[0] ?? null,
      lastEvents,
      checkpoint: checkpoint[0] ?? null,
      delivery: delivery[0] ?? null,
    };
  }

  private find<Row>(sql: string, parameters: unknown[]): Promise<Row[]> {
    return this.database.query<Row[]>(sql, parameters);
  }

  private async temporal(runId: string): Promise<TemporalFacts> {
    try {
      const [workflow, workers] = await Promise.all([
        this.orchestrator.describeRun(runId, TEMPORAL_TIMEOUT_MS),
        this.orchestrator.countWorkers(TEMPORAL_TIMEOUT_MS),
      ]);
      return { workflow, workers };
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      return {
        unknown: `Temporal could not be asked (${reason}): set TEMPORAL_ADDRESS to the one that the workers use.`,
      };
    }
  }
}
