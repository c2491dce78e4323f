import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { elementTypes } from '../../../domain/modelling/bpm/bpm.model.ts';
import { decodeXml } from '../../../domain/modelling/bpm/bpmn.model.ts';
import { readTemplate, templateKeys } from '../../../domain/modelling/bpm/templates.ts';
import { rootOf } from '../../support/dom.ts';
import { postFile } from '../../support/forms.ts';
import { openApp, type TestResponse } from '../../support/harness.ts';
import { chain, definitions, rich } from './models.ts';

// its types would bring those of a browser into every other file
const { default: xpath } = await import('xpath' as string);

const BPMN = 'http://www.omg.org/spec/BPMN/20100524/MODEL';
const names = [...elementTypes, 'transaction', 'adHocSubProcess'];
const COUNT = `count(//*[namespace-uri() = '${BPMN}' and (${names.map((name) => `local-name() = '${name}'`).join(' or ')})])`;

/** The elements of a model, counted by another reader. */
function counted(bytes: Buffer): number {
  return xpath.select(COUNT, rootOf(decodeXml(bytes).text.replace(/^\uFEFF/, '')));
}

const wide = `\ufeff${rich.replace('UTF-8', 'UTF-16').replace('\n', '\r\n')}`;
const latin = rich.replace('UTF-8', 'ISO-8859-1').replace('Desk', 'Büro');
/** By name: the models of this house, or those of the folder that `BPMN_MODELS` names. */
const models = new Map<string, Buffer>(
  process.env.BPMN_MODELS
    ? readdirSync(process.env.BPMN_MODELS)
        .filter((name) => name.endsWith('.bpmn'))
        .map((name) => [name, readFileSync(path.join(process.env.BPMN_MODELS!, name))])
    : [
        ...templateKeys.map((key): [string, Buffer] => [key, Buffer.from(readTemplate(key).bpmn_xml)]),
        ['two pools', Buffer.from(rich)],
        ['two pools in UTF-16', Buffer.from(wide, 'utf16le')],
        ['two pools in Latin-1', Buffer.from(latin, 'latin1')],
      ],
);

const { admin, member } = await openApp(['admin', 'member']);

/** The address of a new process. */
async function newProcess(): Promise<string> {
  return `/api/v1/bpm/processes/${(await admin.card({ type: 'BusinessProcess' })).id}`;
}
const ok = async (asked: Promise<TestResponse>) => {
  const answer = await asked;
  expect(answer.status, answer.text).toBeLessThan(300);
  return answer;
};
const statuses = (answers: TestResponse[]) => answers.map(({ status }) => status).sort();

it.each([...models.keys()])(
  'a model (%s) comes back byte for byte, with all of its elements',
  async (name) => {
    const bytes = models.get(name)!;
    const of = await newProcess();
    const { body } = await ok(postFile(member, `${of}/diagram/import`, 'model.bpmn', bytes));
    expect(body.element_count).toBe(counted(bytes));
    expect((await ok(member.get(`${of}/diagram/export/bpmn`))).raw.equals(bytes)).toBe(true);
    expect((await ok(member.get(`${of}/elements?page_size=1`))).body.total).toBe(body.element_count);
    // as text it is the same model, whatever its bytes were
    const { text } = decodeXml(bytes);
    const saved = (await ok(member.put(`${of}/diagram`, { bpmn_xml: text }))).body;
    expect(saved).toMatchObject({ version: 2, element_count: body.element_count });
    expect([saved.elements_added, saved.elements_removed, saved.elements_changed]).toEqual([[], [], []]);
    expect((await ok(member.get(`${of}/diagram`))).body.bpmn_xml).toBe(text);
  },
);

describe('while a large model is read', () => {
  const TASKS = 8_000;
  /** Far beyond what is read at once. */
  const large = definitions(
    `<b:process id="p">${Array.from({ length: TASKS }, (_, n) => `<b:task id="t${n}" name="Task ${n}"/>`).join('')}</b:process>`,
  );

  it('others are answered', async () => {
    const of = await newProcess();
    const saving = member.put(`${of}/diagram`, { bpmn_xml: large, dry_run: true });
    let answered = 0;
    let saved: TestResponse | undefined;
    void saving.then((answer) => {
      saved = answer;
    });
    while (!saved) {
      await ok(admin.get(`${of}/diagram`));
      answered += 1;
    }
    expect(saved.status, saved.text).toBe(200);
    expect(saved.body.element_count).toBe(TASKS);
    // all are counted, and the first of them named
    expect(saved.body.element_changes).toEqual({ added: TASKS, removed: 0, changed: 0, unchanged: 0 });
    expect(saved.body.elements_added).toHaveLength(1_000);
    expect(saved.body.elements_added.at(-1).bpmn_element_id).toBe('t999');
    expect(answered).toBeGreaterThan(3);
  });

  it('and refused soon where it is none', async () => {
    const of = await newProcess();
    const refused = await Promise.all(
      [
        large.replace('</b:process>', ''),
        large.replace('<b:task', '<!DOCTYPE x><b:task'),
        large.replace('<b:task id="t1"', '<b:task id="t2"'),
        large.replace('name="Task 7"', 'name="&seven;"'),
      ].map((bpmn_xml) => member.put(`${of}/diagram`, { bpmn_xml })),
    );
    expect(refused.map(({ status, body }) => [status, body.errors[0].field])).toEqual(
      refused.map(() => [422, 'bpmn_xml']),
    );
  });
});

describe('of two who write at once', () => {
  it('one saves the version that both have read, and nothing of the other is kept by halves', async () => {
    const of = await newProcess();
    await ok(member.put(`${of}/diagram`, { bpmn_xml: chain({ a: 'A' }) }));
    const { headers } = await member.get(`${of}/diagram`);
    const save = (name: string) =>
      member.put(`${of}/diagram`, { bpmn_xml: chain({ a: name }) }, { 'if-match': headers.etag! });
    const answers = await Promise.all([save('B'), save('C')]);
    expect(statuses(answers)).toEqual([200, 412]);
    const won = answers[0]!.status === 200 ? 'B' : 'C';
    const now = (await member.get(`${of}/diagram`)).body;
    expect(now).toMatchObject({ version: 2, bpmn_xml: chain({ a: won }) });
    // without a condition both count, one after the other
    const both = await Promise.all(
      ['D', 'E'].map((name) => member.put(`${of}/diagram`, { bpmn_xml: chain({ a: name }) })),
    );
    expect(statuses(both)).toEqual([200, 200]);
    expect(both.map(({ body }) => body.version).sort()).toEqual([3, 4]);
  });

  it('one changes a draft, submits it, or decides about it', async () => {
    const of = await newProcess();
    const draft = await ok(member.post(`${of}/flow/drafts`, { bpmn_xml: chain({ a: 'A' }) }));
    const one = `${of}/flow/versions/${draft.body.id}`;
    const edit = (name: string) =>
      member.patch(one, { bpmn_xml: chain({ a: name }) }, { 'if-match': draft.headers.etag! });
    const edits = await Promise.all([edit('B'), edit('C')]);
    expect(statuses(edits)).toEqual([200, 412]);
    expect((await member.get(one)).body).toEqual(edits.find(({ status }) => status === 200)!.body);
    // whoever comes second finds it submitted
    expect(statuses(await Promise.all([0, 1].map(() => member.post(`${one}/submit`))))).toEqual([200, 409]);
    expect(
      statuses(await Promise.all(['approve', 'reject'].map((act) => admin.post(`${one}/${act}`)))),
    ).toEqual([200, 409]);
  });
});
