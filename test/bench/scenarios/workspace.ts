import { createHash } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import yauzl from 'yauzl';
import type { Api } from '../harness/api.ts';
import { sampleMemory } from '../harness/memory.ts';
import { type Row, under, within } from '../harness/rows.ts';
import type { Context } from '../harness/scenario.ts';
import { startService } from '../harness/service.ts';

const MB = 1_000_000;
const POLL_MS = 50;

interface Transfer {
  id: string;
  status: string;
  diff: { totals: Record<string, number> } | null;
  result: { totals: Record<string, number>; left: unknown[] } | null;
  error_message: string | null;
}

async function archiveOf(api: Api): Promise<{ bytes: Buffer; ms: number }> {
  const start = performance.now();
  const answer = await api.fetch('/admin/workspace/export?include_archived=true');
  const bytes = Buffer.from(await answer.arrayBuffer());
  return { bytes, ms: performance.now() - start };
}

/** The checksums of all parts but the manifest, which tells of its run. */
async function checksums(archive: Buffer): Promise<Map<string, string>> {
  const zip = await yauzl.fromBufferPromise(archive, { lazyEntries: true, autoClose: false });
  const sums = new Map<string, string>();
  for await (const entry of zip.eachEntry()) {
    if (entry.fileName === 'manifest.json') continue;
    const content = await buffer(await zip.openReadStreamPromise(entry));
    sums.set(entry.fileName, createHash('sha256').update(content).digest('hex'));
  }
  return sums;
}

async function untilNot(api: Api, id: string, status: string): Promise<Transfer> {
  for (;;) {
    const transfer = await api.get<Transfer>(`/admin/workspace/import/${id}`);
    if (transfer.status === 'failed') throw new Error(`The transfer has failed: ${transfer.error_message}`);
    if (transfer.status !== status) return transfer;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

async function run(context: Context): Promise<Row[]> {
  await context.loadLandscape();
  const { service, log } = context;
  const sending = sampleMemory([service.pid]);
  const { bytes, ms } = await archiveOf(service.api);
  const sent = sending.stop();
  log(`exported ${(bytes.length / MB).toFixed(1)} MB`);

  await using resources = new AsyncDisposableStack();
  const empty = resources.adopt(await startService(), (started) => started.stop());
  const receiving = sampleMemory([empty.pid]);
  const form = new FormData();
  form.append('file', new Blob([new Uint8Array(bytes)], { type: 'application/zip' }), 'workspace.zip');
  const uploaded = performance.now();
  const answer = await empty.api.fetch('/admin/workspace/import', { method: 'POST', body: form });
  const { id } = (await answer.json()) as Transfer;
  const previewed = await untilNot(empty.api, id, 'parsing');
  const read = performance.now();
  log(`previewed ${JSON.stringify(previewed.diff!.totals)}`);
  await empty.api.post(`/admin/workspace/import/${id}/apply`, {});
  const applied = await untilNot(empty.api, id, 'applying');
  const written = performance.now();
  const received = receiving.stop();
  log(`applied ${JSON.stringify(applied.result!.totals)}`);

  const [before, after] = [await checksums(bytes), await checksums((await archiveOf(empty.api)).bytes)];
  const names = new Set([...before.keys(), ...after.keys()]);
  const different = [...names].filter((name) => before.get(name) !== after.get(name));
  if (different.length > 0) log(`different: ${different.join(', ')}`);
  return [
    under({ figure: 'workspace, export', value: ms / 1_000, unit: 's' }, 60),
    under({ figure: 'workspace, upload and preview', value: (read - uploaded) / 1_000, unit: 's' }, 120),
    under(
      { figure: 'workspace, apply into an empty service', value: (written - read) / 1_000, unit: 's' },
      300,
    ),
    under(
      { figure: 'workspace, memory growth of the export', value: sent.growthBytes / MB, unit: 'MB' },
      200,
    ),
    under(
      { figure: 'workspace, memory growth of the import', value: received.growthBytes / MB, unit: 'MB' },
      300,
    ),
    within({ figure: 'workspace, rows left alone', value: applied.result!.left.length, unit: 'rows' }, 0, 0),
    within(
      { figure: 'workspace, parts that came out otherwise', value: different.length, unit: 'parts' },
      0,
      0,
    ),
  ];
}

/** A whole workspace out of one service, into an empty one, and out of that again. */
export const workspace = { name: 'workspace', onlyNamed: true, run };
