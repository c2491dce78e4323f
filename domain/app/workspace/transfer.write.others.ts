import { Readable } from 'node:stream';
import { query } from '../../../platform/database.ts';
import { insertUsers } from '../../access/users.store.ts';
import type { Ctx, Work } from '../../kernel/context.ts';
import { differingMembers } from '../../kernel/events/row-changes.ts';
import type { StoredImage } from '../../kernel/settings/settings.definition.ts';
import {
  SETTINGS_TOPIC,
  type SettingKey,
  type SettingValues,
  storedKey,
} from '../../kernel/settings/settings.read.ts';
import { showProcessTypes } from '../settings/settings.bpm.ts';
import { exchangeImages, lockSettings, writeSetting } from '../settings/settings.change.ts';
import { type Applying, type Page, RowRefused, readPage, writeRows } from './transfer.write.ts';
import { blobName } from './workspace.archive.ts';
import { portableErrors } from './workspace.settings.ts';

interface StagedRow {
  line: number;
  content: Record<string, unknown>;
}

async function staged(work: Work, applying: Applying, kind: string, lines: number[]): Promise<StagedRow[]> {
  return await query(work.sql).rows`select line, content from workspace_transfer_rows
     where transfer_id = ${applying.job.payload.transfer_id}::uuid and kind = ${kind}
     and line = any(${lines}::integer[]) order by line`;
}

/**
 * Creates the accounts that rows of the archive reference and that do not exist here: without a password, with the
 * default role, and deactivated until an administrator activates them.
 */
export async function writePeople(applying: Applying, work: Work, lines: number[]): Promise<void> {
  const role = await work.sql('roles').where({ is_default: true }).first('key');
  if (!role)
    throw new RowRefused([{ field: 'role', code: 'required', message: 'There is no default role.' }]);
  const rows = await staged(work, applying, 'users', lines);
  const known = new Set(
    await work
      .sql('users')
      .whereIn(
        'id',
        rows.map(({ content }) => content.id as string),
      )
      .pluck('id'),
  );
  const values = rows
    .filter(({ content }) => !known.has(content.id as string))
    .map(({ content: { id, email, display_name } }) => ({
      id,
      email,
      display_name,
      role: role.key,
      is_active: false,
    }));
  if (values.length > 0) await insertUsers(work, values);
}

/** Writes settings. */
export async function writeSettings(
  applying: Applying,
  work: Work,
  ctx: Ctx,
  lines: number[],
): Promise<void> {
  for (const { content } of await staged(work, applying, 'settings', lines)) {
    const key = content.key as SettingKey;
    const errors = portableErrors(key, content.value, { metamodel: work.metamodel, roles: new Set() });
    if (errors.length > 0) throw new RowRefused(errors);
    const settings = await lockSettings(work.sql);
    const value = content.value as SettingValues[SettingKey];
    if (key === 'logo' || key === 'favicon') {
      const image = value as StoredImage | null;
      if (!(await exchangeImages(work.sql, settings.values[key], image))) {
        throw new RowRefused([{ field: key, code: 'content_missing', message: 'The picture is not here.' }]);
      }
    }
    const same = Object.keys(differingMembers({ value: settings.values[key] }, { value })).length === 0;
    if (same) {
      // A stored value, even if it equals the default.
      await work
        .sql('settings')
        .insert({ key: storedKey(key), value: JSON.stringify(value), updated_by: ctx.caller.userId })
        .onConflict('key')
        .ignore();
      work.raise(SETTINGS_TOPIC);
      continue;
    }
    await writeSetting(work, ctx, settings, key, value);
    if (key === 'bpm_enabled') await showProcessTypes(work, ctx, value as boolean);
  }
}

/** Stores the contents of files before the rows that reference them; storing a content twice has no effect. */
export async function storeContents({ services, archive, job }: Applying, ids: string[]): Promise<void> {
  const known = new Set(await services.db('files').whereIn('id', ids).pluck('id'));
  for (const id of ids) {
    job.signal.throwIfAborted();
    // A content that is in use is never replaced.
    if (known.has(id)) continue;
    const part = archive.part(blobName(id));
    if (!part)
      throw new RowRefused([
        { field: '', code: 'content_missing', message: 'The archive has no content of it.' },
      ]);
    await services.blobs.put(id, Readable.from(archive.read(part), { objectMode: false }));
  }
}

/** Writes files whose contents are stored. They have no events of their own. */
export async function writeFiles(page: Page): Promise<void> {
  await writeRows(page, await readPage(page));
}
