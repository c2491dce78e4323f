import Type from 'typebox';
import { object, type StaticOf } from '../../../domain/kernel/shapes.ts';
import type { CountedCards } from './kpis.counts.ts';

const Counts = Type.Record(Type.String(), Type.Integer());
/** The figures of the active cards of visible types; `avg_data_quality` has one decimal, and is 0 without cards. */
export const figureSchemas = {
  total_cards: Type.Integer(),
  by_type: Counts,
  avg_data_quality: Type.Number(),
  approval_statuses: Counts,
  data_quality_distribution: object({
    '0-25': Type.Integer(),
    '25-50': Type.Integer(),
    '50-75': Type.Integer(),
    '75-100': Type.Integer(),
  }),
  lifecycle_distribution: object({
    plan: Type.Integer(),
    phaseIn: Type.Integer(),
    active: Type.Integer(),
    phaseOut: Type.Integer(),
    endOfLife: Type.Integer(),
    none: Type.Integer(),
  }),
};

export type Figures = StaticOf<typeof figureSchemas>;

const quarters = ['0-25', '25-50', '50-75', '75-100'] as const;

/** Aggregates the counts of all types. */
export function figuresOf(counts: ReadonlyMap<string, CountedCards[]>): Figures {
  const figures: Figures = {
    total_cards: 0,
    by_type: {},
    avg_data_quality: 0,
    approval_statuses: {},
    data_quality_distribution: { '0-25': 0, '25-50': 0, '50-75': 0, '75-100': 0 },
    lifecycle_distribution: { plan: 0, phaseIn: 0, active: 0, phaseOut: 0, endOfLife: 0, none: 0 },
  };
  const add = (sums: Record<string, number>, key: string, cards: number) => {
    sums[key] = (sums[key] ?? 0) + cards;
  };
  let tenths = 0;
  for (const [type, groups] of counts) {
    figures.by_type[type] = 0;
    for (const { approval, quarter, phase, cards, qualityTenths } of groups) {
      figures.total_cards += cards;
      tenths += qualityTenths;
      add(figures.by_type, type, cards);
      add(figures.approval_statuses, approval, cards);
      add(figures.data_quality_distribution, quarters[quarter], cards);
      add(figures.lifecycle_distribution, phase, cards);
    }
  }
  if (figures.total_cards > 0) figures.avg_data_quality = Math.round(tenths / figures.total_cards) / 10;
  return figures;
}
