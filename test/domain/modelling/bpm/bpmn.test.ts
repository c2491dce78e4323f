import { Resvg } from '@resvg/resvg-js';
import type { ModelElement } from '../../../../domain/modelling/bpm/bpm.model.ts';
import { decodeXml, modelLimits } from '../../../../domain/modelling/bpm/bpmn.model.ts';
import { readModelFile, readModelText, readThumbnail } from '../../../../domain/modelling/bpm/bpmn.read.ts';
import { wrapText } from '../../../../domain/modelling/bpm/svg/svg.text.ts';
import { chain, definitions, rich } from '../../../api/bpm/models.ts';

const read = async (text: string) => {
  const model = await readModelText(text, 'bpmn_xml');
  return { ...model, elements: model.elements.flatMap((part): ModelElement[] => JSON.parse(part)) };
};
const refusal = async (model: Promise<unknown>): Promise<string> =>
  await model.then(
    () => 'taken',
    (error) => `${error.code} ${error.errors[0].field}: ${error.errors[0].message}`,
  );

describe('elements', () => {
  it('are taken from all pools and subprocesses, with lane, pool, place and what follows', async () => {
    const { elements, warnings } = await read(rich);
    expect(warnings).toEqual([]);
    const ids = elements.map(({ bpmn_element_id }) => bpmn_element_id);
    expect(ids).toEqual(['start', 'check', 'ok', 'sub', 'pack', 'inner', 'pay', 'late', 'end', 'received']);
    const by = Object.fromEntries(elements.map((element) => [element.bpmn_element_id, element]));
    expect(by.check).toEqual({
      bpmn_element_id: 'check',
      element_type: 'userTask',
      name: 'Check the order',
      documentation: 'By hand.',
      lane_name: 'Desk',
      pool_name: 'Shop & Store',
      parent_element_id: null,
      is_automated: false,
      sequence_order: 1,
      next_element_ids: ['ok'],
    });
    expect(by.pay).toMatchObject({
      element_type: 'scriptTask',
      is_automated: true,
      parent_element_id: 'inner',
      lane_name: 'Office',
      pool_name: 'Shop & Store',
    });
    expect(by.inner).toMatchObject({ element_type: 'subProcess', parent_element_id: 'sub' });
    expect(by.ok!.next_element_ids).toEqual(['sub', 'end']);
    expect(by.late).toMatchObject({ element_type: 'boundaryEvent', name: '' });
    expect(by.received).toMatchObject({ pool_name: 'Bank', lane_name: null });
  });

  it('without an id are named by their place, and two of one id are refused', async () => {
    const one = await read(definitions('<b:process id="p"><b:task name="A"/><b:task id="t"/></b:process>'));
    expect(one.elements.map(({ bpmn_element_id }) => bpmn_element_id)).toEqual(['element-0', 't']);
    const two = definitions('<b:process id="p"><b:task id="t"/><b:endEvent id="t"/></b:process>');
    expect(await refusal(read(two))).toMatch(/^validation_failed bpmn_xml: /);
  });

  it('are kept beside what the parser does not understand, which is told', async () => {
    const { elements, warnings } = await read(
      definitions(
        '<b:process id="p"><b:task id="t"/><b:sequenceFlow id="f" sourceRef="t" targetRef="x"/></b:process>',
      ),
    );
    expect(elements).toHaveLength(1);
    expect(warnings).toEqual(['unresolved reference <x>']);
  });
});

describe('a model', () => {
  const nested = (depth: number) =>
    definitions(
      `<b:process id="p">${'<b:subProcess>'.repeat(depth)}${'</b:subProcess>'.repeat(depth)}</b:process>`,
    );
  it.each([
    ['nothing', ''],
    ['no XML', 'a model'],
    ['an open element', definitions('<b:process>')],
    ['another root', '<process xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL"/>'],
    ['another namespace', '<definitions xmlns="http://example.org"/>'],
    ['an unbound prefix', definitions('<x:process/>')],
    ['a document type', `<!DOCTYPE d>${definitions('')}`],
    [
      'entities within entities',
      `<?xml version="1.0"?><!DOCTYPE l [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;">]><l>&b;</l>`,
    ],
    ['a file of the machine', '<!DOCTYPE l [<!ENTITY a SYSTEM "file:///etc/passwd">]><l>&a;</l>'],
    ['an unknown entity', definitions('<b:process name="&what;"/>')],
    ['a character that is none', definitions('<b:process name="&#0;"/>')],
    ['half a character', definitions('<b:process name="\ud800"/>')],
    ['no end of depth', nested(50_000)],
    ['no end of elements', definitions('<b:process/>'.repeat(modelLimits.elements))],
    [
      'no end of attributes',
      definitions(`<b:process ${Array.from({ length: 20_000 }, (_, n) => `a${n}=""`).join(' ')}/>`),
    ],
    ['no end', definitions(' '.repeat(modelLimits.bytes))],
    ['an id without end', definitions(`<b:process id="p"><b:task id="${'a'.repeat(300)}"/></b:process>`)],
  ])('with %s is refused soon', async (_, text) => {
    const start = performance.now();
    expect(await refusal(read(text))).toMatch(/^validation_failed bpmn_xml: /);
    expect(performance.now() - start).toBeLessThan(5_000);
  });

  it('may be as deep and large as the limits say, and name what objects inherit', async () => {
    expect((await read(nested(90))).elements).toHaveLength(90);
    const odd = await read(
      definitions(
        '<b:process id="__proto__" __proto__="x"><b:task id="constructor" name="&lt;b&gt;"/></b:process>',
      ),
    );
    expect(odd.elements[0]).toMatchObject({ bpmn_element_id: 'constructor', name: '<b>' });
    expect(({} as { x?: unknown }).x).toBeUndefined();
  });

  it('is read in the encoding that it declares or shows, and kept as it is', async () => {
    const text = definitions('<b:process id="p"><b:task id="t" name="Prüfen"/></b:process>');
    const latin = text.replace('UTF-8', 'ISO-8859-1');
    const wide = `\ufeff${text.replace('UTF-8', 'UTF-16')}`;
    for (const [bytes, encoding] of [
      [Buffer.from(latin, 'latin1'), 'iso-8859-1'],
      [Buffer.from(wide, 'utf16le'), 'utf-16le'],
      [Buffer.from(wide, 'utf16le').swap16(), 'utf-16be'],
      [Buffer.from(`\ufeff${text}`), 'utf-8'],
    ] as const) {
      const model = await readModelFile(bytes, 'file');
      expect(JSON.parse(model.elements[0]!)[0].name).toBe('Prüfen');
      expect(model.encoding).toBe(encoding);
      expect(model.original ?? Buffer.from(model.text)).toEqual(bytes);
    }
    const wrong = Buffer.from(text.replace('Prüfen', 'Pr\u00fcfen'), 'latin1');
    expect(await refusal(readModelFile(wrong, 'file'))).toMatch(/its bytes are not utf-8/);
    expect(() => decodeXml(Buffer.from(text.replace('UTF-8', 'EBCDIC')))).toThrow('EBCDIC');
  });
});

describe('a picture', () => {
  it('is drawn from the diagram interchange, and holds no more than that', async () => {
    const { picture } = await read(rich);
    expect(picture).toContain('Shop &amp; Store');
    const png = new Resvg(picture!).render();
    expect([png.width, png.height]).toEqual([640, 274]);
    expect((await read(chain({ a: 'A' }))).picture).toBeNull();
  });

  it('passes over places that are none and names that would break it', async () => {
    const shape = (x: string) =>
      `<bpmndi:BPMNShape bpmnElement="t"><dc:Bounds x="${x}" y="0" width="10" height="10"/></bpmndi:BPMNShape>`;
    const drawn = (shapes: string) =>
      definitions(
        `<b:process id="p"><b:task id="t" name="&lt;script>alert(1)&lt;/script> &quot;&amp;"/></b:process><bpmndi:BPMNDiagram><bpmndi:BPMNPlane bpmnElement="p">${shapes}</bpmndi:BPMNPlane></bpmndi:BPMNDiagram>`,
      );
    expect((await read(drawn(shape('1e300') + shape('NaN')))).picture).toBeNull();
    const { picture } = await read(drawn(shape('5')));
    expect(picture).not.toContain('<script');
    await expect(readThumbnail(picture!, 'svg_thumbnail')).resolves.toBeDefined();
  });

  it('that is sent is no more than a picture', async () => {
    const svg = (content: string) => `<svg xmlns="http://www.w3.org/2000/svg">${content}</svg>`;
    expect((await readThumbnail(svg('<rect/>'), 'svg_thumbnail')).kind).toBe('svg');
    for (const bad of ['no', svg('<script/>'), svg('<rect onclick="x()"/>'), '<p/>', svg('\ud800')])
      await expect(readThumbnail(bad, 'svg_thumbnail')).rejects.toThrow();
  });

  it('has names in lines that fit', () => {
    expect(wrapText('Check the order of the customer', 60, 2, 11)).toEqual(['Check the', 'order o…']);
    expect(wrapText('', 60, 2, 11)).toEqual([]);
    expect(wrapText('Donaudampfschifffahrt', 60, 1, 11)[0]).toMatch(/^Dona.*…$/);
  });
});
