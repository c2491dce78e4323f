import Type from 'typebox';
import { reportQueryMembers } from '../../../domain/inventory/reports/report.job.ts';
import { Choice, component, Nullable, object, Position } from '../../../domain/kernel/shapes.ts';

/** The body of a query, with the page of groups to return. */
export const ReportQueryBody = object({
  ...reportQueryMembers,
  page: Type.Integer({ default: 1, minimum: 1, maximum: 1_000_000 }),
  page_size: Type.Integer({
    default: 1_000,
    minimum: 1,
    maximum: 10_000,
    description: 'Groups per JSON page, and the most bars of a chart; CSV, workbooks and jobs contain all',
  }),
});

const Cell = Nullable(Type.Union([Type.String(), Type.Number(), Type.Boolean()]));

export const QueryResultSchema = component('QueryResult', {
  columns: Type.Array(
    object({
      name: Type.String(),
      type: Choice(['text', 'key', 'number', 'boolean', 'date', 'datetime']),
      unit: Type.Optional(
        Type.String({ description: 'The currency (ISO 4217) of costs, % for data quality' }),
      ),
    }),
    { description: 'The dimensions, then the measures' },
  ),
  rows: Type.Array(Type.Array(Cell), { description: 'A row for each group' }),
  total_groups: Type.Integer(),
  page: Type.Integer(),
  page_size: Type.Integer(),
  has_more: Type.Boolean(),
  position: Position,
});

/** The example in the OpenAPI document. */
export const queryExample = {
  from: ['Application'],
  filter: 'lifecycle.active is not empty',
  dimensions: [
    { field: 'attributes.businessCriticality' },
    { field: 'relation.relAppToITC.target.subtype', as: 'component' },
  ],
  measures: [{ fn: 'count' }, { fn: 'sum', field: 'attributes.costTotalAnnual', as: 'cost' }],
  sort: [{ column: 'cost', dir: 'desc' }],
};
