import { randomUUID } from 'node:crypto';
import { fromBuffer } from 'yauzl';
import { form } from '../../support/forms.ts';
import { expectProblem, openApp, pluck, type TestClient } from '../../support/harness.ts';

const { db, admin, viewer } = await openApp(['admin', 'viewer']);

const ok = async (asked: ReturnType<TestClient['get']>) => {
  const answer = await asked;
  expect(answer.status, answer.text).toBeLessThan(300);
  return answer;
};

/** The text of a document's body, without markup. */
const wordsOf = (docx: Buffer): Promise<string> =>
  new Promise((resolve, reject) => {
    fromBuffer(docx, { lazyEntries: true }, (error, zip) => {
      if (error) return reject(error);
      zip.on('entry', (entry) => {
        if (entry.fileName !== 'word/document.xml') return zip.readEntry();
        zip.openReadStream(entry, (failed, stream) => {
          if (failed) return reject(failed);
          const parts: Buffer[] = [];
          stream.on('data', (part: Buffer) => parts.push(part));
          stream.on('end', () =>
            resolve(
              Buffer.concat(parts)
                .toString()
                .replace(/<\/w:p>/g, '\n')
                .replace(/<[^>]+>/g, ''),
            ),
          );
        });
      });
      zip.readEntry();
    });
  });
const pagesOf = (pdf: Buffer): number => pdf.toString('latin1').match(/\/Type \/Page\b(?!s)/g)?.length ?? 0;

it('a decision is handed on as DOCX, PDF and Markdown, with its signatures', async () => {
  const card = await admin.card({ name: `Desk ${randomUUID()}` });
  const made = await admin.create('/api/v1/adr', {
    title: 'One & only <desk>',
    context: 'Why **so**\n\n| a | b |\n|---|---|\n| c | d |',
    decision: 'x'.repeat(400),
    consequences: '* Good',
    decision_makers: ['Ann: the first', 'Ben'],
  });
  await admin.create(`/api/v1/adr/${made.id}/cards`, { card_id: card.id });
  await ok(admin.post(`/api/v1/adr/${made.id}/request-signatures`, { user_ids: [admin.userId] }));
  const { body: signed } = await ok(admin.post(`/api/v1/adr/${made.id}/sign`));
  const file = (format: string) => ok(viewer.get(`/api/v1/adr/${made.id}/export?format=${format}`));

  const docx = await file('docx');
  expect(docx.headers['content-disposition']).toBe(`attachment; filename=${made.reference_number}.docx`);
  const words = await wordsOf(docx.raw);
  for (const part of [
    'One &amp; only &lt;desk&gt;',
    'Context and Problem Statement',
    'Consequences',
    card.name,
    signed.content_hash,
    'Ben',
  ])
    expect(words, part).toContain(part);
  expect(words).not.toContain('Not signed yet');
  const pdf = await file('pdf');
  expect(pdf.headers['content-type']).toBe('application/pdf');
  expect(pdf.raw.subarray(0, 5).toString()).toBe('%PDF-');
  expect(pagesOf(pdf.raw)).toBe(1);

  const md = await file('md');
  expect(md.text).toContain('status: accepted');
  const back = await ok(
    admin.request({
      method: 'POST',
      url: '/api/v1/adr/import',
      headers: { 'content-type': 'text/markdown' },
      payload: md.text,
    }),
  );
  expect(back.status, back.text).toBe(201);
  const [item] = back.body.items;
  expect(item).toMatchObject({ file: '', title: made.title, notes: [expect.stringContaining('accepted')] });
  const again = (await ok(viewer.get(`/api/v1/adr/${item.id}`))).body;
  for (const name of ['title', 'context', 'decision', 'consequences', 'decision_makers'])
    expect(again[name]).toEqual(signed[name]);
  // written past the service
  await db('adrs').where({ id: made.id }).update({ decision: 'Other' });
  expect(await wordsOf((await file('docx')).raw)).toContain('differs from the signed content');
  await expectProblem(viewer.get(`/api/v1/adr/${made.id}/export?format=exe`), 422);
});

it('a decision comes in from many files, all or none', async () => {
  const send = (files: [string, string | Buffer][], headers: Record<string, string> = {}) => {
    const sent = form(...files.map(([filename, content]) => ({ filename, content })));
    const options = { ...sent, headers: { ...sent.headers, ...headers } };
    return admin.request({ method: 'POST', url: '/api/v1/adr/import', ...options });
  };
  const files: [string, string][] = [
    ['0001-first.md', '# First\n\n## Decision\n\nA\n'],
    ['0002-second.md', '---\ntags: [x]\n---\n# Second\n'],
  ];
  const key = { 'idempotency-key': randomUUID() };
  const done = await ok(send(files, key));
  expect(done.body).toMatchObject({
    created: 2,
    items: [
      { file: '0001-first.md', title: 'First', notes: [] },
      { file: '0002-second.md', title: 'Second', notes: ['Left out of its head: tags.'] },
    ],
  });
  const numbers = done.body.items.map(({ reference_number }: { reference_number: string }) =>
    Number(reference_number.slice(4)),
  );
  expect(numbers[1]).toBe(numbers[0] + 1);
  expect((await send(files, key)).body).toEqual(done.body);
  const total = async () => (await ok(admin.get('/api/v1/adr?page_size=1'))).body.total;
  const before = await total();
  const refused = await send([
    ['good.md', '# Good\n'],
    ['none.md', 'no title'],
    ['head.md', '---\na: [\n---\n# T'],
    ['bytes.md', Buffer.from([0x23, 0x20, 0xff])],
  ]);
  expect(refused.status).toBe(422);
  const fields = pluck(refused.body.errors, 'field');
  expect(fields).toEqual(['none.md: title', 'head.md', 'bytes.md', 'bytes.md: title']);
  expect((await send([])).body.errors[0].field).toBe('file');
  expect(await total()).toBe(before);
});

it('a statement is handed on as DOCX and PDF, without its hidden sections', async () => {
  const { body } = await ok(
    admin.post('/api/v1/soaw', {
      name: 'Überall: one/desk',
      document_info: { prepared_by: 'Ann' },
      version_history: [{ version: '0.1', date: '2026-11-22', description: 'First' }],
      sections: {
        '1.1': { title: 'Background', content: '<p>Why <b>so</b></p><ul><li>x</li></ul>' },
        '1.2': { content: '<p>Kept back</p>', hidden: true },
        '4.2': {
          table_data: { columns: ['Role', 'Person'], rows: [['Sponsor'], ['Lead', 'Ben']] },
          togaf_data: { RM: 'Tailored', H: 'As it is' },
        },
      },
    }),
  );
  const docx = await ok(viewer.get(`/api/v1/soaw/${body.id}/export`));
  expect(docx.headers['content-disposition']).toContain("filename*=UTF-8''SoAW-%C3%9Cberall-one-desk.docx");
  const words = await wordsOf(docx.raw);
  for (const part of ['Not signed yet', '1.1 Background', 'Why ', 'Sponsor', 'Tailored', 'Version history'])
    expect(words, part).toContain(part);
  expect(words).not.toContain('Kept back');
  expect(pagesOf((await ok(viewer.get(`/api/v1/soaw/${body.id}/export?format=pdf`))).raw)).toBe(1);
});

it('decisions are handed on as one file, with contents and signatures, as they are filtered', async () => {
  const word = randomUUID();
  const card = await admin.card({ name: `Desk ${word}` });
  const made = (title: string, more: object = {}) =>
    admin.create('/api/v1/adr', { title: `${title} ${word}`, context: `Why ${title}`, ...more });
  const first = await made('First');
  const second = await made('Second', { decision: '## Yes\n\n* Good' });
  await admin.create(`/api/v1/adr/${first.id}/cards`, { card_id: card.id });
  await ok(admin.post(`/api/v1/adr/${second.id}/request-signatures`, { user_ids: [admin.userId] }));
  await ok(admin.post(`/api/v1/adr/${second.id}/sign`));
  const file = (query: string) => ok(viewer.get(`/api/v1/adr/export?${query}`));

  const docx = await file(`search=${word}`);
  expect(docx.headers['content-disposition']).toBe('attachment; filename=architecture-decisions.docx');
  const words = await wordsOf(docx.raw);
  const [one, two] = [`${first.reference_number} First ${word}`, `${second.reference_number} Second ${word}`];
  const places = [
    `${one} (Draft)`,
    `${two} (Signed)`,
    'Why First',
    'Not signed yet.',
    'Why Second',
    'Signatures',
  ];
  for (const part of places) expect(words).toContain(part);
  expect(words.indexOf('Why First')).toBeLessThan(words.indexOf('Why Second'));
  expect(words).toContain(`Desk ${word} (Application)`);
  expect(pagesOf((await file(`search=${word}&format=pdf`)).raw)).toBeGreaterThan(0);
  const signed = await wordsOf((await file(`search=${word}&status=signed`)).raw);
  expect([signed.includes('Why First'), signed.includes('Why Second')]).toEqual([false, true]);
  const long = {
    series_id: randomUUID(),
    number: 9_999,
    title: `Long ${word}`,
    context: 'x'.repeat(400_001),
  };
  await db('adrs').insert(long);
  const pdf = viewer.get(`/api/v1/adr/export?search=long+${word}&format=pdf`);
  await expectProblem(pdf, 422, 'query_too_heavy', 'request');
  await file(`search=long+${word}`);
  await db('adrs').insert(
    Array.from({ length: 101 }, (_, n) => ({
      series_id: randomUUID(),
      number: 10_000 + n,
      title: `Many ${word}`,
    })),
  );
  await expectProblem(
    viewer.get(`/api/v1/adr/export?search=many+${word}`),
    422,
    'query_too_heavy',
    'request',
  );
});
