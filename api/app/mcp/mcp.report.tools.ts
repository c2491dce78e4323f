import Type from 'typebox';
import { OpenObject, object } from '../../../domain/kernel/shapes.ts';
import type { OperationSpec } from '../../operation.ts';
import { ApiError } from './mcp.api.ts';
import {
  answer,
  bounded,
  JsonObject,
  Key,
  MOST_ITEMS,
  Parameters,
  reading,
  type Tool,
  tool,
} from './mcp.tool.ts';

const PREFIX = '/api/v1/reports/';

/** Query parameters of every report about caching and formats, which tools do not need. */
const technical = new Set(['table', 'min_position', 'max_staleness']);

interface OfferedReport {
  name: string;
  title: string;
  description: string;
  permission: string[];
  parameters: Record<string, unknown>;
}

/** The reports among the service's operations, with their parameters. */
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

/** @throws ApiError for an unknown report. */
function reportNamed(reports: readonly OfferedReport[], name: string): OfferedReport {
  const found = reports.find((report) => report.name === name);
  if (found) return found;
  throw new ApiError({
    status: 404,
    code: 'not_found',
    detail: `There is no report ${name}: list_reports returns all.`,
  });
}

/** Tools that run reports. */
export const reportTools = (reports: OfferedReport[]): Tool[] => [
  tool({
    name: 'list_reports',
    title: 'List the reports',
    description:
      'The reports that run_report runs, with the names of their parameters; with `report` one of them, its parameters as JSON schemas.',
    input: object({ report: Type.Optional(Key('A report, to be described in full')) }),
    output: answer({ reports: Type.Array(OpenObject) }),
    annotations: reading,
    async run({ report }) {
      if (report === undefined) return { reports: reports.map(briefly), truncations: [] };
      return { reports: [{ ...reportNamed(reports, report) }], truncations: [] };
    },
  }),
  tool({
    name: 'run_report',
    title: 'Run a report',
    description:
      'Figures of one report of list_reports. Lists in the response are truncated to `items` elements; `truncations` lists the truncations with the total numbers.',
    input: object({
      report: Type.String({ minLength: 1, maxLength: 100, description: 'A name of list_reports' }),
      parameters: Parameters('As list_reports describes them; `filter` selects the cards'),
      items: Type.Integer({ minimum: 1, maximum: MOST_ITEMS, default: 50 }),
    }),
    output: answer({ report: Type.String(), answer: JsonObject("The report's own members") }),
    annotations: reading,
    async run({ report, parameters, items }, api) {
      reportNamed(reports, report);
      const { body } = await api({ method: 'GET', path: `/reports/${report}`, query: parameters });
      const { truncations, ...figures } = bounded(body, { items, text: 1_000 });
      return { report, answer: figures, truncations };
    },
  }),
];
