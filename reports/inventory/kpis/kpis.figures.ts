import { lifecyclePhases } from '../../../domain/kernel/metamodel/metamodel.types.ts';
import type { CountedCards } from './kpis.counts.ts';

/** The figures of the active cards of visible types. */
export interface Figures {
  total_cards: number;
  by_type: Record<string, number>;
  /** 0 to 100 with one decimal; 0 without cards. */
  avg_data_quality: number;
  approval_statuses: Record<string, number>;
  data_quality_distribution: Record<'0-25' | '25-50' | '50-75' | '75-100', number>;
  lifecycle_distribution: Record<string, number>;
}

const quarters = ['0-25', '25-50', '50-75', '75-100'] as const;

/** Adds up what was counted for each type. */
export function figuresOf(counts: ReadonlyMap<string, CountedCards[]>): Figures {
  const figures: Figures = {
    total_cards: 0,
    by_type: {},
    avg_data_quality: 0,
    approval_statuses: {},
    data_quality_distribution: { '0-25': 0, '25-50': 0, '50-75': 0, '75-100': 0 },
    lifecycle_distribution: Object.fromEntries([...lifecyclePhases, 'none'].map((phase) => [phase, 0])),
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
