import { readQuestion } from '../../../../reports/analysis/question/question.read.ts';
import { createVocabulary } from '../../../../reports/analysis/question/question.vocabulary.ts';
import { closeAfterAll, createTestServices } from '../../../support/harness.ts';

const TODAY = '2026-11-22';

const t = closeAfterAll(await createTestServices());
const vocabulary = createVocabulary((await t.ctx()).metamodel, [{ group: 'Region', tag: 'Deutschland' }]);

const read = (question: string) => readQuestion(vocabulary, question, TODAY);

it.each([
  ['Wie viele Anwendungen gibt es?', 'How many applications are there?'],
  ['Anzahl der IT-Komponenten', 'number of IT components'],
  ['Wie viele Karten haben wir?', 'How many cards do we have?'],
  ['Wie viele geschäftskritische Anwendungen gibt es?', 'How many business critical applications are there?'],
  ['Wie viele Anwendungen sind nicht genehmigt?', 'How many applications are not approved?'],
  ['Wie viele Anwendungen ohne Lebensende?', 'how many applications without an end of life'],
  ['Wie viele Anwendungen je Kritikalität?', 'How many applications per business criticality?'],
  [
    'Wie viele Anwendungen nach Hostingart und Kritikalität?',
    'How many applications by hosting type and business criticality?',
  ],
  // the labels of the German pages
  ['Wie viele Anwendungen je Betriebsart?', 'How many applications per hosting type?'],
  ['Wie viele IT-Komponenten je Einstufung?', 'How many IT components per resource classification?'],
  ['Wie viele IT-Komponenten je Lizenzart?', 'How many IT components per license type?'],
  ['Summe Anzahl Nutzende der Anwendungen', 'Sum of number of users of the applications'],
  ['Wie viele Datenobjekte je Schutzbedarf der Daten?', 'How many data objects per data sensitivity?'],
  ['Welche Anwendungen enden vor 2028?', 'Which applications ending before 2028?'],
  // the labels of the phases
  ['Welche Anwendungen laufen aus?', 'Which applications are phasing out?'],
  ['Welche Anwendungen gibt es, die auslaufen?', 'Which applications are there that are phasing out?'],
  ['Wie viele Anwendungen sind im Auslauf?', 'How many applications are phasing out?'],
  ['Wie viele Anwendungen sind in Einführung?', 'How many applications are phasing in?'],
  ['Wie viele Anwendungen sind in Planung?', 'How many applications are planned?'],
  ['Welche Anwendungen, die nach 2027 enden, gibt es?', 'Which applications ending after 2027 are there?'],
  ['Welche Anwendungen enden nach dem 31.12.2027?', 'Which applications ending after 2027-12-31?'],
  ['Zeige Anwendungen, die keine Schnittstellen haben', 'Show applications that have no interfaces'],
  ['Liste aktive Anwendungen ohne Anbieter', 'List active applications without providers'],
  [
    'Die 5 teuersten Anwendungen nach jährlichen Gesamtkosten',
    'The 5 most expensive applications by total annual cost',
  ],
  [
    'Durchschnittliche Gesamtkosten der Anwendungen je Hostingart',
    'Average total annual cost of the applications per hosting type',
  ],
  [
    'Welche Anwendungen mit Gesamtkosten über 1,5 Mio.?',
    'Which applications with total annual cost over 1.5m?',
  ],
  [
    'Anwendungen mit einer Nutzerzahl zwischen 10 und 500',
    'applications with a number of users between 10 and 500',
  ],
  ['Die zehn teuersten Anwendungen', 'The ten most expensive applications'],
  [
    'Welche Anwendungen haben die höchsten Gesamtkosten?',
    'Which applications have the highest total annual cost?',
  ],
  [
    'Welche Anwendungen gehen in den nächsten 12 Monaten live?',
    'Which applications go live in the next 12 months?',
  ],
  [
    'Welche Anwendungen enden in den nächsten 12 Monaten?',
    'Which applications ending in the next 12 months?',
  ],
  [
    'Welche Anwendungen enden im ersten Quartal 2027?',
    'Which applications ending in the first quarter 2027?',
  ],
  ['Welche Anwendungen enden nächstes Jahr?', 'Which applications ending next year?'],
  ['Wie viele Anwendungen wurden erfunden?', undefined],
  ['Wie viele Anwendungen markiert mit Deutschland?', 'How many applications tagged Deutschland?'],
])('%s', (question, english) => {
  const found = read(question);
  if (english === undefined) {
    // told in the words of whoever asks
    expect(found).not.toHaveProperty('query');
    for (const word of (found as { unknown: string[] }).unknown) expect(question).toContain(word);
    return;
  }
  const meant = read(english);
  expect(meant, english).toHaveProperty('query');
  expect(found).toEqual(meant);
});

it('tells only the unknown word of "je Farbe"', () =>
  expect(read('Wie viele Anwendungen je Farbton?')).toMatchObject({ unknown: ['Farbton'] }));

it('leaves questions in English as they are', () =>
  expect(read('How many gadgets die in winter?')).toMatchObject({ unknown: ['gadgets', 'die', 'winter'] }));

it('all options of a field with several values apply that "and" joins', async () => {
  const { metamodel } = await t.ctx();
  const type = metamodel.cardTypes.get('Interface')!;
  const model = type.fields.get('dataFormat')!;
  const options = ['hl7', 'dicom'];
  const protocols = {
    ...model,
    ...{ key: 'protocols', label: 'Protocols', type: 'multiple_select' as const, options: new Set(options) },
    optionLabels: new Map([
      ['hl7', 'HL7 2575'],
      ['dicom', 'DICOM 104'],
    ]),
  };
  const own = createVocabulary(
    {
      ...metamodel,
      cardTypes: new Map([
        ...metamodel.cardTypes,
        ['Interface', { ...type, fields: new Map([...type.fields, ['protocols', protocols]]) }],
      ]),
    },
    [],
  );
  const filterOf = (question: string) => readQuestion(own, question, TODAY);
  expect(filterOf('Which interfaces with HL7 2575 and DICOM 104?')).toMatchObject({
    query: { filter: 'attributes.protocols = hl7 and attributes.protocols = dicom' },
  });
  expect(filterOf('Which interfaces with HL7 2575 or DICOM 104?')).toMatchObject({
    query: { filter: 'attributes.protocols in (hl7, dicom)' },
  });
});

it('a type of the workspace is meant by its name, even if the name is a word of the vocabulary', async () => {
  const { metamodel } = await t.ctx();
  const site = { ...metamodel.cardTypes.get('Organization')!, key: 'Site', label: 'Standort' };
  const own = createVocabulary(
    {
      ...metamodel,
      cardTypes: new Map([...metamodel.cardTypes, ['Site', site]]),
      visibleTypes: [...metamodel.visibleTypes, 'Site'],
    },
    [],
  );
  expect(readQuestion(own, 'Wie viele Standort gibt es?', TODAY)).toEqual(
    readQuestion(own, 'How many Standort are there?', TODAY),
  );
  expect(readQuestion(own, 'How many Standort are there?', TODAY)).toMatchObject({
    query: { from: ['Site'] },
  });
});

describe('relations of the workspace', async () => {
  const { metamodel } = await t.ctx();
  const uses = metamodel.relationTypes.get('relOrgToApp')!;
  const own = createVocabulary(
    {
      ...metamodel,
      relationTypes: new Map([
        ...metamodel.relationTypes,
        [
          uses.key,
          {
            ...uses,
            ...{ label: 'subscribes to', reverse_label: 'is subscribed by' },
            translations: { de: 'abonniert', reverse_label: { de: 'wird abonniert von' } },
          },
        ],
      ]),
    },
    [],
    'de',
  );
  const users = 'relation.relOrgToApp.target is not empty';

  it.each([
    ['Welche Organisationen abonnieren Anwendungen?', users],
    ['Zeige Organisationen, die Anwendungen abonnieren', users],
    ['Welche Organisationen abonnieren keine Anwendung?', `not (${users})`],
    ['Welche Anwendungen werden von Organisationen abonniert?', 'relation.relOrgToApp.source is not empty'],
  ])('are understood by their German labels: %s', (question, filter) =>
    expect(readQuestion(own, question, TODAY)).toMatchObject({ query: { filter } }),
  );

  it('and are named by them', () =>
    expect(readQuestion(own, 'Welche Organisationen abonnieren Anwendungen?', TODAY)).toMatchObject({
      reading: ['Karten: Organisation', 'abonniert Anwendung'],
    }));
});

it.each([
  [
    'Die 5 teuersten Anwendungen ohne Lebensende',
    ['Karten: Anwendung', 'die ersten 5', 'Summe: Jährliche Gesamtkosten', 'ohne Lebensende'],
  ],
  ['How many applications by hosting type?', ['Karten: Anwendung', 'nach Betriebsart']],
  ['Welche Anwendungen enden vor 2028?', ['Karten: Anwendung', 'Lebensende vor 2028-01-01']],
])('what was understood is said in the language of the reader: %s', async (question, reading) => {
  const german = createVocabulary((await t.ctx()).metamodel, [], 'de');
  expect(readQuestion(german, question, TODAY)).toMatchObject({ reading });
});

it.each([
  [
    'Wie viele Anwendungen unterstützen mehr als eine Fähigkeit?',
    'Wie viele Anwendungen unterstützen mehr als eine Fähigkeit',
  ],
])('what was not understood is quoted as it was asked: %s', async (question, text) => {
  const german = createVocabulary((await t.ctx()).metamodel, [], 'de');
  expect(readQuestion(german, question, TODAY)).toMatchObject({ unknown: [], ambiguous: [{ text }] });
});
