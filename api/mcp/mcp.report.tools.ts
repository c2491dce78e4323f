import Type from 'typebox';
import { closed, OpenObject } from '../../domain/kernel/shapes.ts';
import type { OperationSpec } from '../operation.spec.ts';
import { QuestionBody } from '../schemas/question.ts';
import { queryExample, ReportQueryBody } from '../schemas/reports.query.ts';
import { RefusedError } from './mcp.ask.ts';
import { bounded } from './mcp.bounds.ts';
import { answer, Key, MOST_ITEMS, Parameters, Thing } from './mcp.schemas.ts';
import { reading, type Tool, tool } from './mcp.tool.ts';

const PREFIX = '/api/v1/reports/';

/** Members of every report's query that say how it is cached or written, of which a tool has no use. */
const technical = new Set(['table', 'min_position', 'max_staleness']);

interface OfferedReport {
  name: string;
  title: string;
  description: string;
  permission: string[];
  parameters: Record<string, unknown>;
}

/** The reports among the service's operations, with what each takes. */
export function offeredReports(operations: Iterable<OperationSpec>): OfferedReport[] {
  return [...operations].flatMap((spec) => {
    const name = spec.url.slice(PREFIX.length);
    if (spec.method !== 'GET' || !spec.url.startsWith(PREFIX) || name.includes(':')) return [];
    const properties = (spec.query as { properties?: Record<string, unknown> } | undefined)?.properties ?? {};
    return [
      {
        name,
        title: spec.summary,
        description: (spec.description ?? '').split('\n\n')[0]!,
        permission: [spec.permission].flat(),
        parameters: Object.fromEntries(Object.entries(properties).filter(([key]) => !technical.has(key))),
      },
    ];
  });
}

const briefly = ({ parameters, ...report }: OfferedReport) => ({
  ...report,
  parameters: Object.keys(parameters),
});

/** @throws RefusedError where there is none of the name. */
function reportNamed(reports: readonly OfferedReport[], name: string): OfferedReport {
  const found = reports.find((report) => report.name === name);
  if (found) return found;
  throw new RefusedError({
    status: 404,
    code: 'not_found',
    detail: `There is no report ${name}: list_reports tells which there are.`,
  });
}

/** Tools that compute figures. @param reports as the service offers them. */
export const reportTools = (reports: OfferedReport[]): Tool[] => [
  tool({
    name: 'list_reports',
    title: 'List the reports',
    description:
      'The reports that run_report runs, with the names of their parameters; with `report` one of them, its parameters as JSON schemas.',
    input: Type.Object({ report: Type.Optional(Key('A report, to be told in full')) }, closed),
    output: answer({ reports: Type.Array(OpenObject) }),
    annotations: reading,
    async run({ report }) {
      if (report === undefined) return { reports: reports.map(briefly), cuts: [] };
      return { reports: [{ ...reportNamed(reports, report) }], cuts: [] };
    },
  }),
  tool({
    name: 'run_report',
    title: 'Run a report',
    description:
      'Figures of one report of list_reports. Lists in the answer are cut to `items` elements; `cuts` tells where and how many there are.',
    input: Type.Object(
      {
        report: Type.String({ minLength: 1, maxLength: 100, description: 'A name of list_reports' }),
        parameters: Parameters('As list_reports tells of this report; `filter` narrows the cards'),
        items: Type.Integer({ minimum: 1, maximum: MOST_ITEMS, default: 50 }),
      },
      closed,
    ),
    output: answer({ report: Type.String(), answer: Thing("The report's own members") }),
    annotations: reading,
    async run({ report, parameters, items }, { ask }) {
      reportNamed(reports, report);
      const { body } = await ask({ method: 'GET', path: `/reports/${report}`, query: parameters });
      const { value, cuts } = bounded(body, { items, text: 1_000 });
      return { report, answer: value, cuts };
    },
  }),
  tool({
    name: 'query_inventory',
    title: 'Group, count and sum cards',
    description: `Answers any question about numbers: groups cards by whatever they hold, counts and sums them. Fields are paths of the filter language, and \`phase\` for the lifecycle phase. Example of the arguments: ${JSON.stringify(queryExample)}`,
    input: Type.Object(
      {
        ...ReportQueryBody.properties,
        page_size: Type.Integer({ minimum: 1, maximum: 500, default: 100, description: 'Groups on a page' }),
      },
      closed,
    ),
    output: answer({
      columns: Type.Array(OpenObject, { description: 'The dimensions, then the measures' }),
      rows: Type.Array(Type.Array(Type.Unknown()), { description: 'A row for each group' }),
      total_groups: Type.Integer(),
      page: Type.Integer(),
      page_size: Type.Integer(),
      has_more: Type.Boolean(),
      position: Type.String(),
    }),
    annotations: reading,
    async run(query, { ask }) {
      const { body } = await ask({ method: 'POST', path: '/reports/query', body: query });
      const { value, cuts } = bounded(body, { items: 500, text: 1_000 });
      return { ...value, cuts };
    },
  }),
  tool({
    name: 'ask_inventory',
    title: 'Ask a question in words',
    description:
      'Turns a question in plain English or German, such as "how many applications are ending before 2028 by hosting type", into a query, and answers it. Use query_inventory where the query is known.',
    input: Type.Object(
      { question: QuestionBody.properties.question, run: QuestionBody.properties.run },
      closed,
    ),
    output: answer({
      query: Thing('What was run; query_inventory takes it'),
      read_by: Type.String({ description: '`rules` or `model`' }),
      reading: Type.Array(Type.String(), { description: 'What each part of the question was taken for' }),
      model: Type.Union([Thing('The model that read it'), Type.Null()]),
      answer: Type.Union([Thing('Columns and rows'), Type.Null()]),
    }),
    annotations: { ...reading, openWorldHint: true },
    async run(body, { ask }) {
      const reply = await ask({ method: 'POST', path: '/ai/question', body });
      const { value, cuts } = bounded(reply.body, { items: 500, text: 4_000 });
      return { ...value, cuts };
    },
  }),
];
