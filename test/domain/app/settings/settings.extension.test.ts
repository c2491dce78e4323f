import { changeSetting, clearImage, setImage } from '../../../../domain/app/settings/settings.change.ts';
import { settingsExtension } from '../../../../domain/app/settings/settings.extension.ts';
import { commandWith } from '../../../../domain/kernel/command.ts';
import { readSetting } from '../../../../domain/kernel/settings/settings.read.ts';
import type { UndoneEvent } from '../../../../domain/kernel/undo/undo.types.ts';
import { closeAfterAll, createTestServices } from '../../../support/harness.ts';

const t = closeAfterAll(await createTestServices());

const [spec] = settingsExtension.undo!;
const stored = async () =>
  await t.services.db('settings').where('key', 'like', 'workspace.%').orderBy('key').select('key', 'value');
const change = async (key: Parameters<typeof changeSetting>[2], input: Record<string, unknown>) =>
  await changeSetting(await t.ctx(), t.services.secrets, key, input);

/** Undoes everything since the position, newest first. */
async function undoAfter(position: number) {
  const events: UndoneEvent[] = (
    await t.services
      .db('events')
      .where('position', '>', position)
      .where({ event_type: 'settings.updated' })
      .orderBy('position', 'desc')
  ).map((row) => ({ ...row, id: row.data.id }));
  const ctx = await t.ctx();
  return await commandWith(ctx, { changesMetamodel: true }, async (work) => {
    const answers = [];
    for (const event of events) answers.push(await spec!.undo!(work, ctx, event));
    return answers;
  });
}
const newest = async () => Number((await t.services.db('events').max('position as n').first())?.n ?? 0);

it('gives plain settings and members of groups their values back, and takes away what was set first', async () => {
  await change('currency', { currency: 'EUR' });
  await change('email', { smtp_host: 'mail.estate.example' });
  const before = await stored();
  const position = await newest();
  await change('currency', { currency: 'CHF' });
  await change('currency', { currency: 'NOK' });
  await change('email', { smtp_port: 25, app_base_url: 'https://estate.example' });
  await change('cors_origins', { origins: ['https://portal.example'] });
  await change('retention', { jobs_days: 30 });
  expect(await undoAfter(position)).toEqual([null, null, null, null, null]);
  expect(await stored()).toEqual(before);
  expect(await readSetting(t.services.db, 'email')).toMatchObject({
    smtp_host: 'mail.estate.example',
    smtp_port: 587,
  });
});

it('leaves an address as it is while a secret would go there that was given for another', async () => {
  await change('email', { smtp_host: 'mail.old.example' });
  const position = await newest();
  await change('email', { smtp_host: 'mail.new.example', smtp_password: 'for the new one' });
  const [outcome] = await undoAfter(position);
  expect(outcome).toMatchObject({ code: 'secret_needed' });
  expect((await readSetting(t.services.db, 'email')).smtp_host).toBe('mail.new.example');
  await change('email', { smtp_host: null, smtp_password: null });
});

it('undoes the undoing as well', async () => {
  const position = await newest();
  await change('app_title', { app_title: 'Landscape' });
  const undoing = await newest();
  await undoAfter(position);
  expect(await readSetting(t.services.db, 'app_title')).toBe('');
  await undoAfter(undoing);
  expect(await readSetting(t.services.db, 'app_title')).toBe('Landscape');
});

it('shows the picture of before while its content is kept', async () => {
  const picture = (radius: number) =>
    Buffer.from(`<svg xmlns="http://www.w3.org/2000/svg"><circle r="${radius}"/></svg>`);
  const { db, blobs } = t.services;
  const first = await setImage(await t.ctx(), blobs, 'logo', picture(1));
  const position = await newest();
  await setImage(await t.ctx(), blobs, 'logo', picture(2));
  await clearImage(await t.ctx(), 'logo');
  expect(await undoAfter(position)).toEqual([null, null]);
  expect(await readSetting(db, 'logo')).toEqual(first);
  expect(await db('files').where({ id: first.file_id }).first('expires_at')).toEqual({ expires_at: null });

  const later = await newest();
  await clearImage(await t.ctx(), 'logo');
  await db('files').delete();
  expect(await undoAfter(later)).toEqual([expect.objectContaining({ code: 'content_purged' })]);
  expect(await readSetting(db, 'logo')).toBeNull();
});
