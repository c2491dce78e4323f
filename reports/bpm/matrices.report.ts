import { may, requirePermission } from '../../domain/access/policy.ts';
import { BPM_TOPIC, PROCESS } from '../../domain/bpm/bpm.types.ts';
import type { Ctx } from '../../domain/context.ts';
import { column } from '../report.formats.ts';
import { typeOf } from '../report.params.ts';
import { jsonLines } from '../report.sql.ts';
import { defineReport, type Report, type ReportTable } from '../report.ts';
import { applicationLinks, relatedTo } from './bpm.sql.ts';

interface Line {
  id: string;
  name: string;
}

interface Answer<C> {
  rows: Line[];
  columns: Line[];
  cells: C[];
}

const CAPABILITY = 'BusinessCapability';
const APPLICATION = 'Application';

const line = (alias: string) => `json_build_object('id', ${alias}.id, 'name', ${alias}.name)`;
const lines = (alias: string) => jsonLines(line(alias), `${alias}.name_key, ${alias}.id`);
const linesTable = (name: string, items: Line[]): ReportTable => ({
  name,
  columns: [column('id', 'key'), column('name')],
  rows: items.map(({ id, name: text }) => [id, text]),
});
const namesOf = <C>({ rows, columns }: Answer<C>) =>
  new Map([...rows, ...columns].map(({ id, name }) => [id, name]));

const shared = (other: string) =>
  ({
    module: 'bpm',
    permission: 'reports.bpm_dashboard',
    permissionNote: 'and relations.view',
    params: {},
    check(ctx: Ctx) {
      typeOf(ctx, 'type', PROCESS);
      typeOf(ctx, 'type', other);
      requirePermission(ctx.caller, 'relations.view');
    },
    variant: (ctx: Ctx) => String(may(ctx.caller, 'costs.view')),
  }) satisfies Partial<Report>;

/** Which processes support which capabilities. */
export const capabilityProcessMatrixReport = defineReport<
  Record<string, never>,
  Answer<{ process_id: string; capability_id: string }>
>({
  ...shared(CAPABILITY),
  name: 'bpm-capability-process-matrix',
  path: 'bpm/capability-process-matrix',
  id: 'readCapabilityProcessMatrix',
  summary: 'Read which processes support which capabilities',
  description:
    'Rows are processes, columns capabilities; a cell is a pair that is related. `filter` narrows the rows.',
  timeTravel: true,
  dependsOn: (topic) =>
    topic === 'metamodel' ||
    topic.startsWith('relations:') ||
    topic === `cards:${PROCESS}` ||
    topic === `cards:${CAPABILITY}`,
  async compute({ sql, ctx, cards, visible }) {
    const pairs = relatedTo(ctx, CAPABILITY);
    const { rows } = await sql.raw(
      `with p as materialized (select c.id, c.name, c.name_key from cards c where c.type = ? and ${cards.sql}),
       k as materialized (select c.id, c.name, c.name_key from cards c where c.type = ? and ${visible.sql}),
       x as (select b.* from (${pairs.sql}) b join p on p.id = b.process_id join k on k.id = b.other_id)
       select '{"rows":' || (select ${lines('p')} from p) || ',"columns":' || (select ${lines('k')} from k)
         || ',"cells":' || (select ${jsonLines(
           `json_build_object('process_id', x.process_id, 'capability_id', x.other_id, 'attributes', x.attributes)`,
           'x.process_id, x.other_id',
         )} from x) || '}' as answer`,
      [PROCESS, ...cards.bindings, CAPABILITY, ...visible.bindings, ...pairs.bindings] as never,
    );
    return rows[0].answer;
  },
  tables(answer) {
    const names = namesOf(answer);
    return [
      {
        name: 'cells',
        columns: [
          column('process_id', 'key'),
          column('process'),
          column('capability_id', 'key'),
          column('capability'),
        ],
        rows: answer.cells.map(({ process_id, capability_id }) => [
          process_id,
          names.get(process_id),
          capability_id,
          names.get(capability_id),
        ]),
      },
      linesTable('rows', answer.rows),
      linesTable('columns', answer.columns),
    ];
  },
});

interface ApplicationCell {
  process_id: string;
  application_id: string;
  source: 'relation' | 'element';
  element_name?: string;
  element_type?: string;
}

/** Which processes use which applications, by relations and by elements of diagrams. */
export const processApplicationMatrixReport = defineReport<Record<string, never>, Answer<ApplicationCell>>({
  ...shared(APPLICATION),
  name: 'bpm-process-application-matrix',
  path: 'bpm/process-application-matrix',
  id: 'readProcessApplicationMatrix',
  summary: 'Read which processes use which applications',
  description:
    'Rows are processes, columns applications. A cell comes from a relation, with its attributes, or from an element of the diagram, with its name and type. `filter` narrows the rows.',
  permissionNote: 'and relations.view; bpm.view for elements of diagrams',
  timeTravel: false,
  check(ctx) {
    shared(APPLICATION).check(ctx);
    requirePermission(ctx.caller, 'bpm.view');
  },
  dependsOn: (topic) =>
    topic === 'metamodel' ||
    topic === BPM_TOPIC ||
    topic.startsWith('relations:') ||
    topic === `cards:${PROCESS}` ||
    topic === `cards:${APPLICATION}`,
  async compute({ sql, ctx, cards, visible }) {
    const pairs = relatedTo(ctx, APPLICATION);
    const { rows } = await sql.raw(
      `with p as materialized (select c.id, c.name, c.name_key from cards c where c.type = ? and ${cards.sql}),
       k as materialized (select c.id, c.name, c.name_key from cards c where c.type = ? and ${visible.sql}),
       x as (
         select b.process_id, b.other_id, 1 as part, 0 as place, json_build_object('process_id', b.process_id,
           'application_id', b.other_id, 'source', 'relation', 'attributes', b.attributes) as cell
         from (${pairs.sql}) b join p on p.id = b.process_id join k on k.id = b.other_id
         union all
         select p.id, l.application_id, 2, e.sequence_order, json_build_object('process_id', p.id, 'application_id',
           l.application_id, 'source', 'element', 'element_name', e.name, 'element_type', e.element_type)
         from p ${applicationLinks} join k on k.id = l.application_id)
       select '{"rows":' || (select ${lines('p')} from p) || ',"columns":' || (select ${lines('k')} from k)
         || ',"cells":' || (select ${jsonLines('x.cell', 'x.process_id, x.other_id, x.part, x.place')} from x) || '}' as answer`,
      [PROCESS, ...cards.bindings, APPLICATION, ...visible.bindings, ...pairs.bindings] as never,
    );
    return rows[0].answer;
  },
  tables(answer) {
    const names = namesOf(answer);
    return [
      {
        name: 'cells',
        columns: [
          column('process_id', 'key'),
          column('process'),
          column('application_id', 'key'),
          column('application'),
          column('source', 'key'),
          column('element_name'),
          column('element_type', 'key'),
        ],
        rows: answer.cells.map((cell) => [
          cell.process_id,
          names.get(cell.process_id),
          cell.application_id,
          names.get(cell.application_id),
          cell.source,
          cell.element_name,
          cell.element_type,
        ]),
      },
      linesTable('rows', answer.rows),
      linesTable('columns', answer.columns),
    ];
  },
});
