import { NAMESPACE } from '../../../../domain/exchange/archimate/archimate.map.ts';
import { readModelInThread } from '../../../../domain/exchange/archimate/archimate.thread.ts';

const model = (content: string) =>
  `<model xmlns="${NAMESPACE}" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">${content}</model>`;
const many = (count: number, part: (n: number) => string) =>
  Array.from({ length: count }, (_, n) => part(n)).join('');

it('lets the process answer others while a large model is read', async () => {
  const count = 20_500;
  const elements = many(
    count,
    (n) =>
      `<element identifier="e${n}" xsi:type="Goal"><name>Goal ${n}</name><documentation>d</documentation><properties><property propertyDefinitionRef="p"><value>${n}</value></property></properties></element>`,
  );
  const relationships = many(
    1_001,
    (n) =>
      `<relationship identifier="r${n}" xsi:type="Access" accessType="Read" source="e${n}" target="e0"/>`,
  );
  const nodes = many(30, (n) => `<node identifier="n${n}" elementRef="e${n}" x="${n}" y="0" w="10" h="10"/>`);
  let turns = 0;
  const timer = setInterval(() => {
    turns += 1;
  }, 1);
  const read = await readModelInThread(
    model(`<elements>${elements}</elements><relationships>${relationships}</relationships>
       <organizations><item identifierRef="e1"/></organizations>
       <propertyDefinitions><propertyDefinition identifier="p" type="string"><name>estate:external_id</name></propertyDefinition></propertyDefinitions>
       <views><diagrams><view identifier="v"><name>V</name>${nodes}<connection source="n1" target="n2"/></view></diagrams></views>`),
  );
  clearInterval(timer);
  expect(turns).toBeGreaterThan(5);
  expect(read.elements.map(({ name }) => name)).toEqual(Array.from({ length: count }, (_, n) => `Goal ${n}`));
  const last = read.elements.at(-1);
  expect(last).toMatchObject({ identifier: `e${count - 1}`, type: 'Goal', documentation: 'd' });
  expect(read.elements.at(-1)!.properties).toEqual(new Map([['external_id', String(count - 1)]]));
  expect(read.relationships).toHaveLength(1_001);
  expect(read.relationships[1_000]).toMatchObject({ source: 'e1000', qualifiers: ['accessType'] });
  expect(read.views[0]!.nodes).toHaveLength(30);
  expect(read.views[0]!.connections).toEqual([{ source: 'n1', target: 'n2' }]);
  expect(read.inFolders).toBe(1);
});

it.each([
  ['nested without end', model('<a>'.repeat(100_000)), /more than 64 deep/],
  [
    'with entities',
    `<!DOCTYPE m [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]>${model('&b;')}`,
    /document type/,
  ],
  ['with an unknown entity', model('<name>&b;</name>'), /not well-formed/],
  [
    'with a million attributes',
    model(`<elements><element ${many(1_000_000, (n) => `a${n}="" `)}/></elements>`),
    /more than 10000 attributes/,
  ],
  ['of another kind', '<model/>', /no model of the ArchiMate exchange format/],
  ['that is not closed', '<'.repeat(1_000_000), /not well-formed/],
])('says what is wrong with a model %s', async (_, xml, message) => {
  await expect(readModelInThread(xml)).rejects.toThrow(message);
});

it('takes no more nodes of a view than a drawing may have', async () => {
  const nodes = '<node/>'.repeat(150_000);
  const { views } = await readModelInThread(
    model(`<views><diagrams><view>${nodes}</view></diagrams></views>`),
  );
  expect(views[0]!.nodes).toHaveLength(100_001);
});
