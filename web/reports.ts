import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

interface Parameter {
  $ref?: string;
  name: string;
  in: string;
  description?: string;
  schema?: { type?: string; enum?: string[]; default?: unknown; 'x-choices'?: unknown };
}

interface Description {
  paths: Record<
    string,
    {
      get?: {
        summary: string;
        /** Such as `reports.portfolio / costs.view for cost fields`. */
        'x-permission': string;
        responses: Record<string, { content?: object }>;
        parameters?: Parameter[];
      };
    }
  >;
  components: { parameters: Record<string, Parameter> };
}

/** Parameters that every report has, or that no control sets. */
const common =
  /^(cursor|page|page_size|offset|search|fields|sort_.*|detail|table|theme|width|filter|scope|as_of|min_position|max_staleness)$/;

/** Writes the reports with a picture and their own parameters, as the API description declares them. */
export function writeReports(): void {
  const text = readFileSync(path.resolve(import.meta.dirname, '../docs/openapi.json'), 'utf8');
  const { paths, components } = JSON.parse(text) as Description;
  const reports = Object.entries(paths).flatMap(([url, { get }]) => {
    const [, name] = /^\/api\/v1\/reports\/(.+)$/.exec(url) ?? [];
    if (!name || !get || !('image/svg+xml' in (get.responses[200]?.content ?? {}))) return [];
    const all = (get.parameters ?? []).map((one) =>
      one.$ref ? components.parameters[one.$ref.split('/').at(-1)!]! : one,
    );
    const inQuery = all.filter((one) => one.in === 'query');
    const parameters = inQuery
      .filter((one) => !common.test(one.name))
      .map(({ name: key, description, schema: { 'x-choices': choices, ...schema } = {} }) => ({
        key,
        description,
        ...schema,
        ...(choices !== undefined && { choices }),
      }));
    const has = (key: string) => inQuery.some((one) => one.name === key);
    const permissions = get['x-permission'].split(/ \/ |; /).filter((one) => /^[a-z_]+\.[a-z_]+$/.test(one));
    const takes = { takesAsOf: has('as_of'), takesFilter: has('filter') };
    return [{ name, summary: get.summary, permissions, parameters, ...takes }];
  });
  const target = path.resolve(import.meta.dirname, 'src/generated');
  mkdirSync(target, { recursive: true });
  writeFileSync(path.join(target, 'reports.json'), JSON.stringify(reports, null, 2));
}
