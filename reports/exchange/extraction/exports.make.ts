import type { ExportRequest } from '../../../domain/exchange/exports/export.job.ts';
import type { Ctx } from '../../../domain/kernel/context.ts';
import {
  type FileFacts,
  type StoredContent,
  storeWritten,
} from '../../../domain/kernel/files/files.store.ts';
import { heldOf, may } from '../../../domain/kernel/permissions/policy.ts';
import type { Services } from '../../../domain/kernel/services.ts';
import { withSnapshot } from '../../../platform/snapshot.ts';
import type { Written } from './extraction.manifest.ts';
import { mediaTypes } from './extraction.names.ts';
import { planExtraction, snapshotPosition } from './extraction.plan.ts';
import { prepareExtraction } from './extraction.write.ts';

/** A stored content with what is told of it; the caller records it as a file. */
export interface MadeExport {
  content: StoredContent;
  /** All but the name. */
  facts: Omit<FileFacts, 'name'>;
  written: Written;
  /** Of all tables together. */
  rows: number;
}

/**
 * Extracts a request from one snapshot into the blob store, with the rights of the context.
 * @param options.onRows is told how many rows there are so far, and how much of the whole that may be (0 to 1).
 * @throws EstateError as {@link planExtraction}.
 */
export async function makeExport(
  services: Services,
  ctx: Ctx,
  request: ExportRequest,
  options: { signal: AbortSignal; onRows(rows: number, share: number): void },
): Promise<MadeExport> {
  const plan = await planExtraction(ctx, request);
  return await withSnapshot(services.db, async (snapshot) => {
    const takenAt = new Date();
    const position = await snapshotPosition(snapshot, request.after);
    const { tables, write } = await prepareExtraction(snapshot, ctx, plan, position);
    const expected = tables.reduce((sum, table) => sum + table.expected, 0);
    const rowsOf = new Map<string, number>();
    let rows = 0;
    const { content } = await storeWritten(services.blobs, (out) =>
      write(out, {
        signal: options.signal,
        onRows: (more, table) => {
          rows += more;
          rowsOf.set(table, (rowsOf.get(table) ?? 0) + more);
          options.onRows(rows, Math.min(rows / Math.max(expected, 1), 0.99));
        },
      }),
    );
    const counted = tables.map(({ name, columns }) => ({ name, columns, rows: rowsOf.get(name) ?? 0 }));
    return {
      content,
      facts: {
        mediaType: mediaTypes[request.format],
        ownerId: ctx.caller.userId,
        withCosts: may(ctx.caller, 'costs.view'),
        needs: heldOf(ctx.caller, 'inventory.export', 'relations.view', 'stakeholders.view'),
        expiresAt: null,
      },
      written: { request, position, takenAt, tables: counted },
      rows,
    };
  });
}
