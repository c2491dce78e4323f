import type { TProperties, TSchema } from 'typebox';
import { Value } from 'typebox/value';
import { ReportQuery } from '../../../domain/inventory/reports/report.job.ts';
import { isObject, object } from '../../../domain/kernel/shapes.ts';
import { invalidFields } from '../../../platform/errors.ts';
import type { Report } from '../../kernel/report.ts';
import { reportCatalogue } from '../../reports.catalogue.ts';

/** What a saved report shows, or one tile of a dashboard. */
export type Content =
  | {
      kind: 'report';
      report: Report;
      params: Record<string, unknown>;
      filter?: string;
      scope?: string;
      asOf?: string;
      hidden: string[];
    }
  | { kind: 'query'; query: ReportQuery; hidden: string[] }
  | { kind: 'kpis'; from?: string; to?: string; hidden: string[] };

/** A content with the title that a dashboard gives it. */
export interface Part {
  title?: string;
  content: Content;
}

type Members = Record<string, unknown>;

/** The views of saved reports that have the name of another report. */
const otherNames: Record<string, string> = {
  'capability-map': 'capability-heatmap',
  'flexible-portfolio': 'portfolio',
  lifecycle: 'roadmap',
};

/**
 * What a saved report shows: a page of the web interface with its parameters, the parameters of a report that other programs
 * have saved, or the tiles of a dashboard. What cannot be drawn is left out.
 * @throws EstateError 422 for parameters that the report does not accept.
 */
export function partsOf(type: string, config: Members): Part[] {
  if (type === 'dashboard') {
    const tiles = [config.tiles].flat().filter(isObject);
    return tiles.flatMap((tile): Part[] => {
      const content = ofPage(tile);
      if (!content) return [];
      return [typeof tile.title === 'string' ? { title: tile.title, content } : { content }];
    });
  }
  const content = typeof config.path === 'string' ? ofPage(config) : ofParams(type, config);
  return content ? [{ content }] : [];
}

/** The content of a page, by its address. */
function ofPage({ path, search }: Members): Content | undefined {
  const given = isObject(search) ? search : {};
  if (path === '/query') return isObject(given.q) ? queryOf(given.q, given) : undefined;
  if (path === '/explorer') {
    const { center, depth = 1 } = given;
    return center ? reportOf('dependencies', { center_id: center, depth, bundle: 12 }, {}) : undefined;
  }
  if (path === '/map') {
    const { boxes = 'BusinessCapability', inside = 'Application', colour, filter, root } = given;
    if (boxes !== 'BusinessCapability' || inside !== 'Application' || colour) return undefined;
    return reportOf('capability-heatmap', { roll_up: true, scope: root, filter }, given);
  }
  const [, name] = /^\/reports\/([a-z][a-z/-]*)$/.exec(String(path)) ?? [];
  return name ? reportOf(name.replace('/', '-'), given, given) : undefined;
}

/** The content that other programs have saved: the parameters of its kind. */
function ofParams(type: string, config: Members): Content | undefined {
  if (type === 'query') return queryOf(isObject(config.query) ? config.query : config, config);
  const params = isObject(config.params) ? config.params : config;
  return reportOf(otherNames[type] ?? type, params, config);
}

/** A text that is not empty. */
const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined;

const hiddenIn = ({ hide }: Members): string[] =>
  Array.isArray(hide) ? hide.filter((one) => typeof one === 'string') : [];

function reportOf(name: string, given: Members, page: Members): Content | undefined {
  const hidden = hiddenIn(page);
  const [from, to] = [textOf(given.from), textOf(given.to)];
  if (name === 'kpis') return { kind: 'kpis', ...(from && { from }), ...(to && { to }), hidden };
  const report = reportCatalogue.find((one) => one.name === name);
  if (!report) return undefined;
  const [filter, scope, at] = [textOf(given.filter), textOf(given.scope), textOf(given.as_of)];
  // pages name a day
  const asOf = at && (at.length === 10 ? `${at}T23:59:59Z` : at);
  return {
    kind: 'report',
    report,
    params: checked(paramsOf(report.params, given), object(report.params)),
    ...(filter && { filter }),
    ...(scope && { scope }),
    ...(asOf && !report.isCurrentOnly && { asOf }),
    hidden,
  };
}

function queryOf(given: Members, page: Members): Content {
  const query = checked(paramsOf(ReportQuery.properties, given), ReportQuery) as ReportQuery;
  return { kind: 'query', query, hidden: hiddenIn(page) };
}

/** The members that a schema knows; pages have others of their own. */
const paramsOf = (known: TProperties, given: Members): Members =>
  Object.fromEntries(
    Object.entries(given).filter(
      ([key, value]) => Object.hasOwn(known, key) && value !== undefined && value !== null && value !== '',
    ),
  );

/** The values with their defaults, as a request has them. @throws EstateError 422 naming the parameters. */
function checked(given: Members, schema: TSchema): Members {
  const values = Value.Default(schema, Value.Convert(schema, structuredClone(given)));
  const errors = Value.Errors(schema, values);
  if (errors.length > 0) {
    throw invalidFields(
      errors.slice(0, 10).map(({ instancePath, message }) => ({
        field: `report.saved_report_id${instancePath.replaceAll('/', '.')}`,
        code: 'not_offered',
        message: `is no longer accepted: ${message}`,
      })),
    );
  }
  return values as Members;
}
