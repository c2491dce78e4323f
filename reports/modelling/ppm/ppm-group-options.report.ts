import type { Ctx } from '../../../domain/kernel/context.ts';
import { INITIATIVE } from '../../../domain/modelling/ppm/ppm.types.ts';
import { column } from '../../kernel/report.formats.ts';
import { defineReport } from '../../kernel/report.ts';
import { ofPortfolio, requirePortfolio } from './ppm.shared.ts';

interface Option {
  type_key: string;
  type_label: string;
}

/** The visible types that a relation type joins to initiatives, in the order of the metamodel. */
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

/** By which types initiatives can be grouped. */
export const ppmGroupOptionsReport = defineReport<Record<string, never>, { items: Option[] }>({
  ...ofPortfolio,
  name: 'ppm-group-options',
  path: 'ppm/group-options',
  id: 'readPpmGroupOptions',
  summary: 'Read by which types initiatives can be grouped',
  params: {},
  check: requirePortfolio,
  dependsOn: (topic) => topic === 'metamodel',
  variant: () => '',
  compute: async ({ ctx }) => JSON.stringify({ items: groupTypes(ctx) }),
  tables: ({ items }) => [
    {
      name: 'items',
      columns: [column('type_key', 'key'), column('type_label')],
      rows: items.map(({ type_key, type_label }) => [type_key, type_label]),
    },
  ],
});
