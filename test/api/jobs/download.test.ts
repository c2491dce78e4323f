import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { storeFile } from '../../../domain/kernel/files/files.store.ts';
import type { AppPermission } from '../../../domain/kernel/permissions/permissions.data.ts';
import { expectProblem, ok, openApp } from '../../support/harness.ts';

const { t, db } = await openApp();
const owner = await t.as('member');

const bytes = Buffer.from('name;cost\nÄpfel;1\nBirnen;2\n');
const sha256 = createHash('sha256').update(bytes).digest();

/** A finished job of the owner with a file. */
async function finished(
  more: {
    name?: string;
    withCosts?: boolean;
    needs?: AppPermission[];
    expiresAt?: Date | null;
    content?: Buffer;
  } = {},
): Promise<{ id: string; fileId: string }> {
  const file = await storeFile(t.services, Readable.from([more.content ?? bytes]), {
    name: more.name ?? 'cards 1.csv',
    mediaType: 'text/csv; charset=utf-8',
    ownerId: owner.userId,
    withCosts: more.withCosts ?? false,
    needs: more.needs ?? [],
    expiresAt: more.expiresAt ?? null,
  });
  const [job] = await db('jobs')
    .insert({
      kind: 'export',
      queue: 'bulk',
      status: 'succeeded',
      owner_id: owner.userId,
      result_file_id: file.id,
      finished_at: new Date(),
    })
    .returning('id');
  return { id: job.id, fileId: file.id };
}
const fetchFile = async (id: string, headers: Record<string, string> = {}, client = owner) =>
  await client.get(`/api/v1/jobs/${id}/result`, headers);
const downloads = async (id: string) =>
  (await db('events').where({ event_type: 'file.downloaded' }).orderBy('position')).filter(
    (event) => event.data.job_id === id,
  );

describe('a download', () => {
  it('needs the permissions by which the file was made, also of its owner', async () => {
    const { id } = await finished({ needs: ['inventory.export', 'admin.export_workspace'] });
    await expectProblem(fetchFile(id), 403, 'admin.export_workspace');
    expect((await downloads(id)).length).toBe(0);
    await ok(fetchFile((await finished({ needs: ['inventory.export'] })).id));
  });

  it('gives the file with name, digest and length, and stands in the audit log', async () => {
    const { id, fileId } = await finished({ name: 'Übersicht "alles" €.csv' });
    expect((await owner.get(`/api/v1/jobs/${id}`)).body.links.result).toBe(`/api/v1/jobs/${id}/result`);
    const answer = await fetchFile(id);
    expect(answer.status).toBe(200);
    expect(answer.raw.equals(bytes)).toBe(true);
    expect(answer.headers).toMatchObject({
      'content-type': 'text/csv; charset=utf-8',
      'content-length': String(bytes.length),
      'accept-ranges': 'bytes',
      etag: `"${sha256.toString('hex')}"`,
      'repr-digest': `sha-256=:${sha256.toString('base64')}:`,
      'x-content-type-options': 'nosniff',
      'content-security-policy': "default-src 'none'; sandbox",
    });
    expect(answer.headers['content-disposition']).toMatch(
      /^attachment; filename=.*filename\*=UTF-8''%C3%9Cbersicht/,
    );
    expect(await downloads(id)).toEqual([
      expect.objectContaining({
        user_id: owner.userId,
        scope: 'audit',
        data: expect.objectContaining({
          job_id: id,
          file_id: fileId,
          size: bytes.length,
          sha256: sha256.toString('hex'),
        }),
      }),
    ]);
  });

  it('gives one range of bytes, at both ends and in the middle', async () => {
    const { id } = await finished();
    const size = bytes.length;
    for (const [range, start, end] of [
      ['bytes=0-3', 0, 3],
      ['bytes=5-', 5, size - 1],
      ['bytes=-4', size - 4, size - 1],
      [`bytes=3-${size * 10}`, 3, size - 1],
    ] as const) {
      const answer = await fetchFile(id, { range });
      expect(answer.status).toBe(206);
      expect(answer.headers['content-range']).toBe(`bytes ${start}-${end}/${size}`);
      expect(answer.headers['content-length']).toBe(String(end - start + 1));
      expect(answer.raw.equals(bytes.subarray(start, end + 1))).toBe(true);
    }
    expect((await downloads(id)).map(({ data }) => data.range)).toContainEqual({ start: 0, end: 3 });
  });

  it('gives the whole file for several ranges, other units, nonsense, and another state', async () => {
    const { id } = await finished();
    for (const headers of [
      { range: 'bytes=0-1,4-5' },
      { range: 'lines=1-2' },
      { range: 'nonsense' },
      { range: 'bytes=0-1', 'if-range': '"another"' },
    ])
      await ok(fetchFile(id, headers as Record<string, string>));
    await ok(fetchFile(id, { range: 'bytes=0-1', 'if-range': `"${sha256.toString('hex')}"` }), 206);
  });

  it('refuses a range beyond the end, and says how long the file is', async () => {
    const answer = await fetchFile((await finished()).id, { range: 'bytes=1000-' });
    expect(answer).toMatchObject({ status: 416, body: { code: 'range_not_satisfiable' } });
    expect(answer.headers['content-range']).toBe(`bytes */${bytes.length}`);
    expect(answer.headers['content-disposition']).toBeUndefined();
    const empty = await finished({ content: Buffer.alloc(0) });
    expect(await fetchFile(empty.id)).toMatchObject({ status: 200, text: '' });
  });

  it('answers 304 to who still holds the file, and HEAD with headers alone; neither is a download', async () => {
    const { id } = await finished();
    const known = await fetchFile(id, { 'if-none-match': `W/"other", "${sha256.toString('hex')}"` });
    expect(known).toMatchObject({ status: 304, text: '' });
    const head = await t.app.inject({
      method: 'HEAD',
      url: `/api/v1/jobs/${id}/result`,
      headers: { authorization: `Bearer ${owner.token}` },
    });
    expect(head.statusCode).toBe(200);
    expect(head.headers['content-length']).toBe(String(bytes.length));
    expect(head.body).toBe('');
    expect(await downloads(id)).toEqual([]);
  });
});

it('who may download is the owner and the administrator', async () => {
  const { id } = await finished();
  await ok(fetchFile(id, {}, await t.as('admin')));
  await expectProblem(fetchFile(id, {}, await t.as('viewer')), 404);
  await expectProblem(fetchFile(id, {}, await t.holding('admin.events')), 403, 'admin.export_workspace');
  await expectProblem(fetchFile(id, {}, t.anonymous), 401);
  expect(await downloads(id)).toHaveLength(1);
});

it('who may download needs costs.view when costs may stand in the file', async () => {
  const { id } = await finished({ withCosts: true });
  await ok(fetchFile(id));
  await db('users').where({ id: owner.userId }).update({ role: 'viewer' });
  onTestFinished(() => db('users').where({ id: owner.userId }).update({ role: 'member' }));
  await expectProblem(fetchFile(id), 403, 'costs.view');
});

it('a job without a file says so: none made, expired, or its content gone', async () => {
  const missing = { status: 404, body: { code: 'job_result_missing' } };
  const [job] = await db('jobs')
    .insert({ kind: 'export', queue: 'bulk', owner_id: owner.userId })
    .returning('id');
  expect(await fetchFile(job.id)).toMatchObject(missing);
  const expired = await finished({ expiresAt: new Date(Date.now() - 1000) });
  expect(await fetchFile(expired.id)).toMatchObject(missing);
  expect((await owner.get(`/api/v1/jobs/${expired.id}`)).body.links.result).toBeNull();
  const gone = await finished();
  await t.services.blobs.remove(gone.fileId);
  expect(await fetchFile(gone.id)).toMatchObject(missing);
});
