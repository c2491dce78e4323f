import { PassThrough, Readable } from 'node:stream';
import { VIEW_SYNC } from '../../../domain/exchange/itsm/connections.queries.ts';
import { readPlanRows, runText } from '../../../domain/exchange/itsm/runs.queries.ts';
import type { Ctx } from '../../../domain/kernel/context.ts';
import { requirePermission } from '../../../domain/kernel/permissions/policy.ts';
import { XLSX } from '../../../domain/kernel/transfer/xlsx.read.ts';
import type { Cell, Column } from '../../kernel/formats/formats.types.ts';
import { writeXlsx } from '../../kernel/formats/xlsx.ts';

const CHUNK = 500;

/** A plan as a streamed file. */
export interface PlanFile {
  name: string;
  mediaType: string;
  body: Readable;
}

const columns: Column[] = [
  { header: 'no', type: 'number' },
  ...[
    'action',
    'side',
    'name',
    'remote_id',
    'card_id',
    'relation_type_key',
    'source',
    'target',
    'field',
    'old',
    'new',
    'reason',
    'candidates',
    'status',
    'error_message',
    'open_since',
  ].map((header): Column => ({ header, type: 'text' })),
];

/**
 * A run with all rows of its plan as JSON, or the rows as a workbook with one line per changed field.
 * @throws EstateError `forbidden`, `not_found`.
 */
export async function downloadPlan(ctx: Ctx, runId: string, format: 'json' | 'xlsx'): Promise<PlanFile> {
  requirePermission(ctx.caller, VIEW_SYNC);
  requirePermission(ctx.caller, 'inventory.view');
  const run = await runText(ctx.db, runId);
  const name = `plan-${runId}.${format}`;
  if (format === 'json') {
    return { name, mediaType: 'application/json', body: Readable.from(jsonOf(ctx, runId, run)) };
  }
  const out = new PassThrough();
  const table = { name: 'Plan', columns, batches: lines(ctx, runId) };
  // a failure destroys the stream, so that the client sees a broken download
  writeXlsx([table], out, {}).catch((error) => ctx.log.warn({ err: error }, 'a plan could not be sent'));
  return { name, mediaType: XLSX, body: out };
}

async function* chunks(ctx: Ctx, runId: string): AsyncGenerator<Record<string, unknown>[]> {
  for (let after = -1; ; ) {
    const rows = await readPlanRows(ctx, runId, after, CHUNK);
    if (rows.length > 0) yield rows;
    if (rows.length < CHUNK) return;
    after = Number(rows.at(-1)!.no);
  }
}

async function* jsonOf(ctx: Ctx, runId: string, run: string): AsyncGenerator<string> {
  yield `{"run":${run},"rows":[`;
  let separator = '';
  for await (const rows of chunks(ctx, runId)) {
    yield `${separator}${rows.map((row) => JSON.stringify(row)).join(',')}`;
    separator = ',';
  }
  yield ']}';
}

async function* lines(ctx: Ctx, runId: string): AsyncGenerator<Cell[][]> {
  for await (const rows of chunks(ctx, runId)) {
    yield rows.flatMap((row) => {
      const link = row.link as Record<string, string | null> | null;
      const candidates = row.candidates as { card_name: string; score: number }[];
      const fields = Object.entries((row.diff ?? {}) as Record<string, { old: unknown; new: unknown }>);
      return (fields.length > 0 ? fields : [[null, { old: null, new: null }] as const]).map(
        ([field, { old, new: now }]): Cell[] => [
          Number(row.no),
          text(row.action),
          text(row.side),
          text(row.name),
          text(row.remote_id),
          text(row.card_id),
          text(link?.relation_type_key),
          text(link?.source_name ?? link?.source),
          text(link?.target_name ?? link?.target),
          field,
          text(old),
          text(now),
          text(row.reason),
          candidates.map(({ card_name, score }) => `${card_name} (${score})`).join('; ') || null,
          text(row.status),
          text(row.error_message),
          text(row.open_since),
        ],
      );
    });
  }
}

function text(value: unknown): string | null {
  if (value === null || value === undefined) return null;
  return typeof value === 'string' ? value : JSON.stringify(value);
}
