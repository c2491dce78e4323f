import { unlessTaken } from '../../../platform/database.ts';
import { EstateError, notFound } from '../../../platform/errors.ts';
import { retryWhile } from '../../../platform/retry.ts';
import { command, commandWith } from '../../kernel/command.ts';
import { type Ctx, checkIfMatch, type Work } from '../../kernel/context.ts';
import type { JsonText } from '../../kernel/lists/lists.types.ts';
import { lockCards } from '../cards/cards.load.ts';
import { newIds } from '../cards/cards.save.ts';
import { writtenFlow } from './data-flows.list.ts';
import type { DataFlowInput } from './data-flows.model.ts';
import { applyFlows, externalIdTaken, type FlowOperation, type FlowOutcome } from './data-flows.write.ts';

/** The members of a request. */
export interface FlowRequest extends DataFlowInput {
  interface_id?: string | null;
  data_object_ids?: string[] | null;
}

const operationOf = ({ interface_id, data_object_ids, ...values }: FlowRequest): FlowOperation => ({
  ...values,
  ...(interface_id === undefined ? {} : { interface: interface_id === null ? null : { id: interface_id } }),
  ...(data_object_ids === undefined ? {} : { data_objects: (data_object_ids ?? []).map((id) => ({ id })) }),
});

/** Applies one operation. @throws EstateError its error. */
async function applyOne(work: Work, ctx: Ctx, operation: FlowOperation): Promise<string> {
  const [outcome] = await guardExternalId(operation, applyFlows(work, ctx, [operation], 'ids'));
  if (outcome!.error) throw outcome!.error;
  return outcome!.id!;
}

/** Awaits a write that a concurrent one may have forestalled. @throws EstateError `external_id_taken`. */
const guardExternalId = <T>(
  { external_id }: { external_id?: string | null },
  write: Promise<T>,
): Promise<T> => unlessTaken(write, () => externalIdTaken(external_id ?? ''), 'data_flows_external_id');

/**
 * Creates a data flow between two cards.
 * @throws EstateError `forbidden`, `validation_failed`, `external_id_taken`.
 */
export async function createDataFlow(
  ctx: Ctx,
  { source_id, target_id, ...input }: FlowRequest & { source_id: string; target_id: string },
): Promise<{ id: string; text: JsonText }> {
  return await command(ctx, async (work) => {
    const ends = { source: { id: source_id }, target: { id: target_id } };
    const [new_id] = await newIds(work, 1);
    const id = await applyOne(work, ctx, { ...operationOf(input), ...ends, new_id });
    return { id, text: await writtenFlow(work.sql, ctx, id) };
  });
}

/**
 * Changes the given members of a data flow. Interfaces and data objects that the caller does not see are retained.
 * @throws EstateError `not_found`, `forbidden`, `precondition_failed`, `validation_failed`, `external_id_taken`.
 */
export async function patchDataFlow(ctx: Ctx, id: string, input: FlowRequest): Promise<JsonText> {
  return await command(ctx, async (work) => {
    await lockFlow(work, ctx, id);
    await applyOne(work, ctx, { ...operationOf(input), id });
    return await writtenFlow(work.sql, ctx, id);
  });
}

/** Deletes a data flow. @throws EstateError `not_found`, `forbidden`, `precondition_failed`. */
export async function deleteDataFlow(ctx: Ctx, id: string): Promise<void> {
  await command(ctx, async (work) => {
    await lockFlow(work, ctx, id);
    await applyOne(work, ctx, { action: 'delete', id });
  });
}

/** Locks a flow with its ends, and checks `If-Match` after the right to change it. */
async function lockFlow(work: Work, ctx: Ctx, id: string): Promise<void> {
  const { sql } = work;
  const flow = await sql('data_flows').where({ id }).first('source_id', 'target_id');
  if (!flow) throw notFound('data flow', id);
  await lockCards(work, [flow.source_id, flow.target_id], 'share');
  await sql('data_flows').where({ id }).forUpdate().first('id');
  if (!ctx.ifMatch) return;
  // an operation without members checks the right alone
  await applyOne(work, ctx, { id });
  checkIfMatch(ctx, await writtenFlow(sql, ctx, id));
}

const ATTEMPTS = 3;

/** Writes again what a concurrent write has forestalled: its flow is found then, and updated. @throws EstateError `external_id_taken`. */
async function unlessForestalled<T>(write: () => Promise<T>): Promise<T> {
  const isForestalled = (error: unknown) =>
    error instanceof EstateError && error.code === 'external_id_taken';
  return await retryWhile(ATTEMPTS, isForestalled, () => guardExternalId({}, write()));
}

/** An operation of a bulk request. */
export type BulkFlow = FlowOperation & { row_index: number };

/**
 * Creates, changes and deletes many data flows in one transaction and a fixed number of statements; each row is checked
 * like a single operation. A failed row is reported, the others are executed. A dry run returns the same and writes nothing.
 */
export async function bulkDataFlows(ctx: Ctx, operations: readonly BulkFlow[], dryRun: boolean) {
  const outcomes = await unlessForestalled(() =>
    commandWith(ctx, { dryRun }, (work) => applyFlows(work, ctx, operations)),
  );
  const results = outcomes.map(({ status, id, error }, n) => ({
    row_index: operations[n]!.row_index,
    status,
    data_flow_id: id,
    error: error?.message ?? null,
    code: error ? (error.errors?.[0]?.code ?? error.code) : null,
    field: error?.errors?.[0]?.field ?? null,
  }));
  const count = (status: FlowOutcome['status']) => results.filter((one) => one.status === status).length;
  return {
    results,
    created: count('created'),
    updated: count('updated'),
    deleted: count('deleted'),
    unchanged: count('unchanged'),
    failed: count('failed'),
    dry_run: dryRun,
  };
}
