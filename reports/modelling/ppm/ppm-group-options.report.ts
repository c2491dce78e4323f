import Type, { type Static } from 'typebox';
import type { Ctx } from '../../../domain/kernel/context.ts';
import { arrayOf } from '../../../domain/kernel/shapes.ts';
import { INITIATIVE } from '../../../domain/modelling/ppm/ppm.model.ts';
import { reportTable } from '../../kernel/report.formats.ts';
import { defineReport, reportSchema } from '../../kernel/report.ts';
import { ofPortfolio } from './ppm.shared.ts';

const Result = reportSchema('PpmGroupOptions', {
  items: arrayOf({ type_key: Type.String(), type_label: Type.String() }),
});
type Result = Static<typeof Result>;

type Option = Result['items'][number];

/** The visible types with a relation type to initiatives, in the order of the metamodel. */
export function groupTypes({ metamodel }: Pick<Ctx, 'metamodel'>): Option[] {
  const joined = new Set(
    metamodel.visibleRelationTypes.flatMap((key) => {
      const { source_type_key: source, target_type_key: target } = metamodel.relationTypes.get(key)!;
      return source === INITIATIVE ? target : target === INITIATIVE ? source : [];
    }),
  );
  joined.delete(INITIATIVE);
  return metamodel.visibleTypes
    .filter((key) => joined.has(key))
    .map((key) => ({ type_key: key, type_label: metamodel.cardTypes.get(key)!.label }));
}

/** The types by which initiatives can be grouped. */
export const ppmGroupOptionsReport = defineReport({
  ...ofPortfolio,
  name: 'ppm-group-options',
  id: 'readPpmGroupOptions',
  summary: 'Read the types by which initiatives can be grouped',
  params: {},
  result: Result,
  topics: () => [],
  compute: async ({ ctx }) => JSON.stringify({ items: groupTypes(ctx) }),
  tables: ({ items }) => [reportTable('items', { type_key: 'key', type_label: 'text' }, items)],
});
