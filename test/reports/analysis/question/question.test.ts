import { planQuery } from '../../../../reports/analysis/query/query.plan.ts';
import type { ReadQuestion, UnreadQuestion } from '../../../../reports/analysis/question/question.draft.ts';
import { readQuestion } from '../../../../reports/analysis/question/question.read.ts';
import { createVocabulary } from '../../../../reports/analysis/question/question.vocabulary.ts';
import { closeAfterAll, createTestServices } from '../../../support/harness.ts';

const TODAY = '2026-11-22';

const t = closeAfterAll(await createTestServices());
const [group] = await t.services.db('tag_groups').insert({ name: 'Region' }).returning('id');
await t.services.db('tags').insert({ tag_group_id: group.id, name: 'South America' });
const ctx = await t.ctx();
const vocabulary = createVocabulary(ctx.metamodel, [{ group: 'Region', tag: 'South America' }]);

/** What was read, known to be a query that can be run. */
async function read(question: string): Promise<ReadQuestion> {
  const found = readQuestion(vocabulary, question, TODAY);
  expect(found, question).toHaveProperty('query');
  await planQuery(ctx, (found as ReadQuestion).query);
  return found as ReadQuestion;
}
const unread = (question: string): UnreadQuestion => {
  const found = readQuestion(vocabulary, question, TODAY);
  expect(found, question).not.toHaveProperty('query');
  return found as UnreadQuestion;
};

describe('counting and grouping', () => {
  /** The filter that a question means, by the types of its cards. */
  const filters: Record<string, Record<string, string>> = {
    Application: {
      'How many applications are there?': '',
      'Count the business applications': 'subtype = businessApplication',
      'How many applications without AI features?': 'not (attributes.hasAiFeatures = true)',
      'How many mission critical applications are there?': 'attributes.businessCriticality = missionCritical',
      'how many applications with business criticality mission critical or business critical?':
        'attributes.businessCriticality in (missionCritical, businessCritical)',
      'how many applications have unreasonable technical suitability':
        'attributes.technicalSuitability = unreasonable',
      'How many applications are not approved?': 'not approval_status = APPROVED',
      'How many applications are not in the cloud?':
        'not attributes.hostingType in (cloudSaaS, cloudPaaS, cloudIaaS)',
      'how many commercial applications': 'attributes.commercialApplication = true',
      'how many applications without an end of life': 'not (lifecycle.endOfLife is not empty)',
      'how many applications without responsible': 'not (stakeholder.responsible is not empty)',
      'how many applications with data quality below 50%': 'data_quality < 50',
      'how many applications with a total annual cost over 100,000': 'attributes.costTotalAnnual > 100000',
      'how many applications whose number of users is between 10 and 1k':
        'attributes.numberOfUsers between 10 and 1000',
      'how many applications tolerate or approved':
        '(attributes.timeModel = tolerate or approval_status = APPROVED)',
      'how many applications tagged South America': 'tags.Region = "South America"',
      'how many applications called "claims"': 'name ~ "claims"',
      'How many applications were created since 2026-01-01?': 'created_at >= 2026-01-01',
    },
    ITComponent: { 'number of IT components': '' },
    '': { 'How many cards do we have?': '' },
    Interface: {
      'how many APIs': 'subtype = api',
      'how many interfaces without data objects': 'not (relation.relInterfaceToDataObj.target is not empty)',
    },
    'Application, Interface': { 'How many applications and interfaces are there?': '' },
  };
  describe.each(Object.entries(filters))('%s', (types, questions) => {
    it.each(Object.entries(questions))('%s', async (question, filter) => {
      const from = types === '' ? [] : types.split(', ');
      const { query } = await read(question);
      expect(query).toMatchObject({ from, filter, dimensions: [], measures: [{ fn: 'count' }] });
    });
  });

  it.each([
    ['How many applications by hosting type?', [{ field: 'attributes.hostingType' }]],
    [
      'applications per business criticality and lifecycle phase',
      [{ field: 'attributes.businessCriticality' }, { field: 'phase' }],
    ],
    ['How many applications by year of end of life?', [{ field: 'lifecycle.endOfLife', bucket: 'year' }]],
    ['number of cards by type', [{ field: 'type' }]],
    ['number of applications per region', [{ field: 'tags.Region' }]],
    ['how many applications by responsible', [{ field: 'stakeholder.responsible' }]],
    ['how many initiatives by quarter of go live', [{ field: 'lifecycle.active', bucket: 'quarter' }]],
    ['how many IT components by tech category', [{ field: 'relation.relITCToTechCat.target.name' }]],
  ])('%s', async (question, dimensions) => {
    expect((await read(question)).query.dimensions).toEqual(dimensions);
  });
});

describe('amounts', () => {
  it.each([
    ['What is the average total annual cost of applications by hosting type?', 'avg', 'hostingType'],
    ['total annual cost of applications per business criticality', 'sum', 'businessCriticality'],
    ['median total annual cost of applications by TIME model', 'percentile', 'timeModel'],
    ['How much do applications cost by hosting type?', 'sum', 'hostingType'],
    ['sum of costs of applications by hosting type', 'sum', 'hostingType'],
    ['highest total annual cost of applications by hosting type', 'max', 'hostingType'],
  ])('%s', async (question, fn, key) => {
    const { query } = await read(question);
    expect(query.measures).toMatchObject([{ fn, field: 'attributes.costTotalAnnual' }]);
    expect(query.dimensions).toEqual([{ field: `attributes.${key}` }]);
    expect(query.from).toEqual(['Application']);
  });

  it('asks for the first so many', async () => {
    expect(await read('Top 5 applications by total annual cost')).toMatchObject({
      limit: 5,
      query: {
        dimensions: [{ field: 'name' }, { field: 'id' }],
        measures: [{ fn: 'sum', field: 'attributes.costTotalAnnual' }],
        sort: [{ column: 'sum(attributes.costTotalAnnual)', dir: 'desc' }],
      },
    });
    expect(await read('the 3 most expensive applications')).toMatchObject({ limit: 3 });
    const { query, limit } = await read('top 10 tech categories by number of IT components');
    expect({ ...query, limit }).toMatchObject({
      limit: 10,
      from: ['TechCategory'],
      measures: [{ fn: 'count', field: 'relation.relITCToTechCat.source.name' }],
    });
  });
});

describe('questions as they are asked', () => {
  it.each([
    ['Which applications have the highest total annual cost?', 'max', 'desc'],
    ['list the applications with the lowest total annual cost', 'min', 'asc'],
  ])('%s, by name', async (question, fn, dir) => {
    expect(await read(question)).toMatchObject({
      limit: 10,
      query: {
        dimensions: [{ field: 'name' }, { field: 'id' }],
        measures: [{ fn, field: 'attributes.costTotalAnnual' }],
        sort: [{ column: `${fn}(attributes.costTotalAnnual)`, dir }],
      },
    });
  });

  it('what is the highest total annual cost of applications, as an amount', async () => {
    const { query, limit } = await read('what is the highest total annual cost of applications');
    expect({ limit, dimensions: query.dimensions }).toEqual({ limit: undefined, dimensions: [] });
  });

  it.each([
    ['the ten most expensive applications', 10],
    ['top five applications by total annual cost', 5],
  ])('%s', async (question, limit) => expect((await read(question)).limit).toBe(limit));

  it.each([
    [
      'What is the data quality of applications by hosting type?',
      { measures: [{ fn: 'avg', field: 'data_quality' }] },
    ],
    [
      'How many applications does each provider offer?',
      { from: ['Application'], dimensions: [{ field: 'relation.relProviderToApp.source.name' }] },
    ],
    [
      'Which business capabilities are not supported by any application?',
      { from: ['BusinessCapability'], filter: 'not (relation.relAppToBC.source is not empty)' },
    ],
    [
      'Which IT components reach end of life next year?',
      { from: ['ITComponent'], filter: expect.stringContaining('2027') },
    ],
    ['applications hosted on premise', { filter: 'attributes.hostingType = onPremise' }],
  ])('%s', async (question, query) => expect((await read(question)).query).toMatchObject(query));
});

describe('days', () => {
  it.each([
    ['before 2027-01-01', 'lifecycle.endOfLife < 2027-01-01'],
    ['before 2027', 'lifecycle.endOfLife < 2027-01-01'],
    ['after 2027', 'lifecycle.endOfLife >= 2028-01-01'],
    ['in 2027', '(lifecycle.endOfLife >= 2027-01-01 and lifecycle.endOfLife < 2028-01-01)'],
    ['by the end of 2026', 'lifecycle.endOfLife < 2027-01-01'],
    ['in Q1 2027', '(lifecycle.endOfLife >= 2027-01-01 and lifecycle.endOfLife < 2027-04-01)'],
    ['in March 2027', '(lifecycle.endOfLife >= 2027-03-01 and lifecycle.endOfLife < 2027-04-01)'],
    ['next year', '(lifecycle.endOfLife >= 2027-01-01 and lifecycle.endOfLife < 2028-01-01)'],
    ['within the next 3 months', '(lifecycle.endOfLife >= 2026-11-22 and lifecycle.endOfLife < 2027-02-23)'],
    ['in the last 2 weeks', '(lifecycle.endOfLife >= 2026-11-08 and lifecycle.endOfLife < 2026-11-23)'],
  ])('Which applications are ending %s?', async (when, filter) => {
    expect((await read(`Which applications are ending ${when}?`)).query).toMatchObject({
      filter,
      dimensions: [{ field: 'name' }, { field: 'lifecycle.endOfLife' }, { field: 'id' }],
    });
  });

  it('knows the phase of today, and the past', async () => {
    expect((await read('how many active applications')).query.filter).toBe(
      '(lifecycle.active <= 2026-11-22 and not lifecycle.phaseOut <= 2026-11-22 and not lifecycle.endOfLife <= 2026-11-22)',
    );
    expect((await read('how many planned applications')).query.filter).toMatch(/^\(\(lifecycle.plan is not/);
    expect((await read('how many applications as of 2026-06-30')).query.as_of).toBe(
      '2026-06-30T00:00:00.000Z',
    );
    expect((await read('list applications phasing out next year by hosting type')).query).toMatchObject({
      filter: '(lifecycle.phaseOut >= 2027-01-01 and lifecycle.phaseOut < 2028-01-01)',
      dimensions: [{ field: 'attributes.hostingType' }],
    });
  });
});

describe('conditions of related cards', () => {
  const ends = (path: string) => `${path}lifecycle.endOfLife between 2027-01-01 and 2027-12-31`;

  it.each([
    ['Which applications use IT components ending in 2027?', ends('relation.relAppToITC.target.')],
    ['Which applications use IT components that end in 2027?', ends('relation.relAppToITC.target.')],
    [
      'Which applications with interfaces end in 2027?',
      'relation.relAppToInterface.target is not empty and (lifecycle.endOfLife >= 2027-01-01 and lifecycle.endOfLife < 2028-01-01)',
    ],
    [
      'Which applications support neither a capability nor a business context?',
      'not (relation.relAppToBC.target is not empty) and not (relation.relAppToBizCtx.target is not empty)',
    ],
    [
      'Which processes depend on a business process with high risk level?',
      'relation.relProcessDependency.target.attributes.riskLevel = high',
    ],
  ])('%s', async (question, filter) => expect((await read(question)).query.filter).toBe(filter));

  it.each([
    // two conditions could be met by different interfaces
    'Which applications have active interfaces?',
    'Which applications use IT components that are not approved?',
    'Which applications use IT components of providers?',
    // said of the applications or of the provider
    'Which applications without a provider ending in 2027 are there?',
    // not said of applications
    'Which applications have a high risk?',
    'Which applications were active in 2024?',
    'Which applications are ending?',
    'top 5 applications',
    'the most expensive applications by provider',
    'Which applications use all IT components?',
    'Which applications support 2 capabilities?',
    'Which organizations support applications?',
    'Which approved applications are rejected?',
  ])('%s is refused', (question) => void unread(question));
});

it.each([
  ['applications with a total annual cost over -1000', 'attributes.costTotalAnnual > -1000'],
  ['applications with a total annual cost over - 1000', 'attributes.costTotalAnnual > -1000'],
  ['applications with a total annual cost over −1,5m', 'attributes.costTotalAnnual > -1500000'],
  ['applications with total annual cost >-1000', 'attributes.costTotalAnnual > -1000'],
  ['applications with a total annual cost between -10 and 5', 'attributes.costTotalAnnual between -10 and 5'],
  ['applications with data quality below -5 %', 'data_quality < -5'],
  ['Anwendungen mit Gesamtkosten über -1000', 'attributes.costTotalAnnual > -1000'],
  ['Anwendungen mit Gesamtkosten unter -2 Tsd.', 'attributes.costTotalAnnual < -2000'],
])('amounts may be negative: %s', async (question, filter) =>
  expect((await read(question)).query.filter).toBe(filter),
);

it.each([
  'top 5 applications by licence cost 2026',
  'top 5 applications by the licence cost in 2026',
  'Top 5 Anwendungen nach Lizenzkosten 2026',
])('costs of a kind and a year may be the order: %s', async (question) => {
  const { query, limit } = await read(question);
  expect(query.from).toEqual(['Application']);
  expect(query.measures).toMatchObject([
    { fn: 'sum', field: expect.stringMatching(/^cost\.2026\.licen[cs]e/) },
  ]);
  expect(limit).toBe(5);
});

it('the costs of a kind that are the order need a year', () =>
  expect(unread('top 5 applications by licence cost').ambiguous).toMatchObject([
    { meanings: ['licence cost 2026', 'licence cost 2027'] },
  ]));

describe('what is not understood', () => {
  it.each([
    ['How many applications in Germany?', ['Germany']],
    ['Delete all applications', ['Delete']],
    ['how many applications not tolerate or approved', ['or']],
    ['how many commercial applications tolerate or approved', ['or']],
    ['how many applications over 5', ['over', '5']],
    ['SELECT * FROM users; DROP TABLE cards', expect.arrayContaining(['DROP', 'TABLE'])],
    ['', []],
    ['applications with a name starting with ""', expect.arrayContaining(['""'])],
    ['applications called ""', expect.arrayContaining(['""'])],
    ['applications called " "', expect.arrayContaining(['" "'])],
    ['applications with a total annual cost over minus 1000', expect.arrayContaining(['minus'])],
    ['Which applications are used by more than -1 organizations?', expect.arrayContaining(['-1'])],
    ['top -5 applications by total annual cost', expect.arrayContaining(['-5'])],
    ['applications ending in the next -3 months', expect.arrayContaining(['-3'])],
  ])('%s', (question, unknown) => expect(unread(question)).toMatchObject({ unknown, ambiguous: [] }));

  it('is not guessed at where there are several meanings', () =>
    expect(unread('how many unreasonable applications').ambiguous).toEqual([
      {
        text: 'unreasonable',
        meanings: [
          'Functional Suitability Unreasonable (attributes.functionalSuitability)',
          'Technical Suitability Unreasonable (attributes.technicalSuitability)',
        ],
      },
    ]));

  it('may be as long as it likes', () => {
    expect(unread(`how many applications ${'and so on '.repeat(5_000)}`).unknown.length).toBeGreaterThan(100);
  });
});
