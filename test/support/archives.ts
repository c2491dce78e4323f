import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import yauzl from 'yauzl';
import { ZipFile } from 'yazl';
import { applyTransfer, readTransfer, startTransfer } from '../../domain/app/workspace/transfer.commands.ts';
import type { TransferDiff, TransferResult } from '../../domain/app/workspace/transfer.model.ts';
import type { Manifest } from '../../domain/app/workspace/workspace.archive.ts';
import type { Ctx } from '../../domain/kernel/context.ts';
import { storeContent } from '../../domain/kernel/files/files.store.ts';
import type { Services } from '../../domain/kernel/services.ts';
import { sha256 } from '../../platform/crypto.ts';
import { streamWorkspace } from '../../reports/app/workspace/workspace.export.ts';
import { startWorkers } from '../../workers/runtime.ts';
import { closeAfterAll, createTestApp, type TestApp } from './harness.ts';
import { until } from './until.ts';

/** A service that archives come from, and one whose workers bring them in; closed after the tests of the file. */
export async function openTwoServices(): Promise<{ source: TestApp; target: TestApp }> {
  const source = closeAfterAll(await createTestApp());
  const target = closeAfterAll(await createTestApp());
  closeAfterAll(await startWorkers(target.services));
  return { source, target };
}

/** Runs part of a test on an empty service of its own with workers. */
export async function onEmptyService(act: (other: TestApp) => Promise<void>): Promise<void> {
  const other = await createTestApp();
  const workers = await startWorkers(other.services);
  try {
    await act(other);
  } finally {
    await workers.close(5_000);
    await other.close();
  }
}

/** The parts of an archive by their names. */
export type Parts = Map<string, Buffer>;

export interface Transfer {
  id: string;
  status: string;
  format_version: string | null;
  diff: TransferDiff | null;
  result: TransferResult | null;
  error_message: string | null;
  job_id: string;
}

/** The whole workspace as an archive. */
export async function exportArchive(services: Services, ctx: Ctx, include_archived = true): Promise<Buffer> {
  return await buffer((await streamWorkspace(services, ctx, { include_archived })).out);
}

export async function unpack(archive: Buffer): Promise<Parts> {
  const zip = await yauzl.fromBufferPromise(archive, { lazyEntries: true, autoClose: false });
  const parts: Parts = new Map();
  for await (const entry of zip.eachEntry())
    parts.set(entry.fileName, await buffer(await zip.openReadStreamPromise(entry)));
  return parts;
}

/** Archives of these parts as they are; `names` gives some of them another name. */
export async function pack(parts: Parts): Promise<Buffer> {
  const zip = new ZipFile();
  for (const [name, content] of parts) zip.addBuffer(content, name);
  zip.end();
  return await buffer(zip.outputStream as Readable);
}

export const manifestOf = (parts: Parts): Manifest => JSON.parse(parts.get('manifest.json')!.toString());

/** Changes a part and what the manifest says of it. */
export function rewrite(parts: Parts, name: string, change: (rows: string[]) => string[]): Parts {
  const rows = change(parts.get(name)!.toString().split('\n').filter(Boolean));
  const content = Buffer.from(rows.map((row) => `${row}\n`).join(''));
  const manifest = manifestOf(parts);
  const part = manifest.files.find((file) => file.name === name)!;
  Object.assign(part, { rows: rows.length, bytes: content.length, sha256: sha256(content) });
  return new Map([...parts, [name, content], ['manifest.json', Buffer.from(JSON.stringify(manifest))]]);
}

/** An archive of some kinds alone, as an older service may have made it. */
export function only(from: Parts, kinds: RegExp): Parts {
  const manifest = manifestOf(from);
  const files = manifest.files.filter(({ kind }) => kinds.test(kind ?? 'files'));
  return new Map([
    ...files.map(({ name }) => [name, from.get(name)!] as const),
    ['manifest.json', Buffer.from(JSON.stringify({ ...manifest, files }))],
  ]);
}

export const transferOf = async (ctx: Ctx, id: string): Promise<Transfer> =>
  JSON.parse(await readTransfer(ctx, id));

const untilNot = async (ctx: Ctx, id: string, status: string, limitMs?: number): Promise<Transfer> =>
  await until(
    `the transfer not to be ${status}`,
    async () => {
      const transfer = await transferOf(ctx, id);
      return transfer.status === status ? undefined : transfer;
    },
    limitMs,
  );

/** Uploads an archive; a worker has to read it. @returns the transfer as it is then. */
export async function uploadArchive(services: Services, ctx: Ctx, archive: Buffer, limitMs?: number) {
  const stored = await storeContent(services.blobs, Readable.from([archive]));
  const { id } = JSON.parse(await startTransfer(ctx, stored, 'workspace.zip')) as Transfer;
  return await untilNot(ctx, id, 'parsing', limitMs);
}

/** Has a worker write what a previewed transfer holds. @returns the transfer as it is then. */
export async function applyArchive(ctx: Ctx, id: string, limitMs?: number): Promise<Transfer> {
  await applyTransfer(ctx, id);
  return await untilNot(ctx, id, 'applying', limitMs);
}

/** What must be the same of two archives of one workspace: all but the manifest, which tells of its run. */
export const contentOf = (parts: Parts): Record<string, string> =>
  Object.fromEntries(
    [...parts]
      .filter(([name]) => name !== 'manifest.json')
      .map(([name, content]) => [name, content.toString('latin1')]),
  );
