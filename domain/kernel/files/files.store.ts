import { randomUUID } from 'node:crypto';
import { PassThrough, Readable, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import yauzl from 'yauzl';
import type { BlobInfo, BlobStore } from '../../../platform/blobs.ts';
import type { Sql } from '../../../platform/database.ts';
import { EstateError, isStorageFull, notFound } from '../../../platform/errors.ts';
import { command } from '../command.ts';
import type { Ctx } from '../context.ts';
import type { AppPermission } from '../permissions/permissions.data.ts';
import { forbidden, heldPermissions, may, requirePermission } from '../permissions/policy.ts';

/** The properties of a stored file. */
export interface FileFacts {
  /** The file name for downloads. */
  name: string;
  mediaType: string;
  /** Null for files of the service itself. */
  ownerId: string | null;
  /** Whether it may contain cost values: then only users who may see costs can download it. */
  withCosts: boolean;
  /** The permissions that determined its content: users who lack one, its owner included, cannot download it. */
  needs: readonly AppPermission[];
  /** The ids of the owner's stakeholder roles that determined its content: an owner who has lost one cannot download it. */
  roles?: readonly string[];
  /** Null: it does not expire. */
  expiresAt: Date | null;
}

export interface StoredFile extends FileFacts {
  id: string;
  /** In bytes. */
  size: number;
  /** SHA-256 as hexadecimal digits. */
  sha256: string;
}

interface FileRow {
  id: string;
  name: string;
  media_type: string;
  size: number;
  sha256: string;
  owner_id: string | null;
  with_costs: boolean;
  needs: AppPermission[];
  roles: string[];
  expires_at: Date | null;
}

/** A stored content that is not yet a file: without `recordFile` it is deleted after a day. */
export interface StoredContent extends BlobInfo {
  id: string;
}

/** Stores a content, completely or not at all. */
export async function storeContent(blobs: BlobStore, content: Readable): Promise<StoredContent> {
  const id = randomUUID();
  return { id, ...(await blobs.put(id, content)) };
}

/**
 * Stores what `write` writes, completely or not at all, and returns its result.
 * @throws errors of `write`, which otherwise has to end the stream.
 */
export async function storeWritten<T>(
  blobs: BlobStore,
  write: (out: Writable) => Promise<T>,
): Promise<{ content: StoredContent; written: T }> {
  const out = new PassThrough();
  const stored = storeContent(blobs, out);
  // It may fail before anybody awaits it, for example when the job is cancelled.
  stored.catch(() => undefined);
  try {
    const written = await write(out);
    return { content: await stored, written };
  } catch (error) {
    out.destroy(error as Error);
    // For the writer a storage error may only appear as a stream that ended too early.
    await stored.catch((met) => {
      if (isStorageFull(met)) throw met;
    });
    throw error;
  }
}

/**
 * The rights of the caller that determine the content of a file. Call it before reading the data, so that a right that
 * is revoked meanwhile prevents downloads.
 * @param permissions the permissions that determine the content.
 */
export async function rightsOfFile(
  { db, caller }: Ctx,
  ...permissions: AppPermission[]
): Promise<Pick<FileFacts, 'ownerId' | 'withCosts' | 'needs' | 'roles'>> {
  const byRole = !may(caller, 'inventory.view') || !may(caller, 'costs.view');
  return {
    ownerId: caller.userId,
    withCosts: may(caller, 'costs.view'),
    needs: heldPermissions(caller, ...permissions),
    roles: byRole ? await db('stakeholders').where({ user_id: caller.userId }).pluck('id') : [],
  };
}

/** Makes a stored content a file, in the caller's transaction. */
export async function recordFile(sql: Sql, content: StoredContent, facts: FileFacts): Promise<StoredFile> {
  await sql('files').insert({
    id: content.id,
    name: facts.name,
    media_type: facts.mediaType,
    size: content.size,
    sha256: content.sha256,
    owner_id: facts.ownerId,
    with_costs: facts.withCosts,
    needs: [...facts.needs],
    roles: [...(facts.roles ?? [])],
    expires_at: facts.expiresAt,
  });
  return { ...facts, ...content };
}

/** Stores a content and records it as a file at once, for callers without a transaction. */
export async function storeFile(
  store: { db: Sql; blobs: BlobStore },
  content: Readable,
  facts: FileFacts,
): Promise<StoredFile> {
  return await recordFile(store.db, await storeContent(store.blobs, content), facts);
}

/**
 * The properties of a file that the caller may download: its owner, or a user who may export the whole workspace; both
 * only with the permissions by which it was created, including `costs.view` if it may contain costs.
 * @param own whether the file was created by an object of the caller's own, within the scopes of the presented token.
 * @throws EstateError `not_found` if there is none or it has expired, `forbidden`.
 */
export async function readFile(ctx: Ctx, id: string, own: boolean): Promise<StoredFile> {
  const sql = '(expires_at is null or expires_at > now())';
  const row: FileRow | undefined = await ctx.db('files').where({ id }).whereRaw(sql).first();
  if (!row) throw notFound('file', id);
  if (!(own && row.owner_id === ctx.caller.userId) && !may(ctx.caller, 'admin.export_workspace')) {
    throw forbidden('admin.export_workspace');
  }
  if (row.with_costs && !may(ctx.caller, 'costs.view')) throw forbidden('costs.view');
  for (const permission of row.needs) requirePermission(ctx.caller, permission);
  if (row.roles.length > 0 && row.owner_id === ctx.caller.userId) await requireRoles(ctx, row.roles);
  return {
    id: row.id,
    name: row.name,
    mediaType: row.media_type,
    size: row.size,
    sha256: row.sha256,
    ownerId: row.owner_id,
    withCosts: row.with_costs,
    needs: row.needs,
    expiresAt: row.expires_at,
  };
}

/**
 * @throws EstateError `forbidden` if a stakeholder role by which a file was created was removed, and no permission
 * replaces it.
 */
async function requireRoles(ctx: Ctx, roles: readonly string[]): Promise<void> {
  const lacking = (['inventory.view', 'costs.view'] as const).find((one) => !may(ctx.caller, one));
  if (lacking === undefined) return;
  const own = { user_id: ctx.caller.userId };
  const held = await ctx.db('stakeholders').where(own).whereIn('id', roles).pluck('id');
  if (held.length < roles.length) throw forbidden(lacking);
}

/**
 * The content of a file, complete or the bytes `start` to `end` (both included).
 * @throws EstateError `not_found` if the content was deleted.
 */
export async function openContent(
  blobs: BlobStore,
  id: string,
  range?: { start: number; end: number },
): Promise<Readable> {
  try {
    return await blobs.get(id, range);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    throw new EstateError('not_found', `The content of the file ${id} is gone.`, { cause: error });
  }
}

/**
 * Records in the audit log who has downloaded a created file, completely or in part.
 * @param maker the object that created it.
 */
export async function recordDownload(
  ctx: Ctx,
  maker: { job_id: string } | { run_id: string },
  file: StoredFile,
  range: { start: number; end: number } | undefined,
): Promise<void> {
  await command(ctx, async ({ emit }) => {
    emit({
      event_type: 'file.downloaded',
      data: {
        ...maker,
        file_id: file.id,
        name: file.name,
        size: file.size,
        sha256: file.sha256,
        ...(range ? { range } : {}),
      },
    });
  });
}

/** Reads ranges of a stored file, as needed to unpack an archive. */
export class StoredRanges extends yauzl.RandomAccessReader {
  readonly #blobs: BlobStore;
  readonly #id: string;

  constructor(blobs: BlobStore, id: string) {
    super();
    this.#blobs = blobs;
    this.#id = id;
  }

  override _readStreamForRange(start: number, end: number): Readable {
    if (start === end) return Readable.from([]);
    const out = new PassThrough();
    openContent(this.#blobs, this.#id, { start, end: end - 1 })
      .then((range) => pipeline(range, out))
      .catch((error) => out.destroy(error as Error));
    return out;
  }
}
