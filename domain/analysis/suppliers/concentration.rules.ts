import Type, { type Static } from 'typebox';
import { arrayOf, Choice, Count, IntegerIn, Nullable, object } from '../../kernel/shapes.ts';

/** The share of one group of suppliers in one category. */
export interface GroupFigures {
  group: string;
  category: string | null;
  apps: number;
  components: number;
  criticalApps: number;
  /** Critical applications that no other group supplies. */
  soleCriticalApps: number;
  /** Null for callers who may not see costs. */
  cost: number | null;
}

const Share = Type.Number({ minimum: 0, maximum: 1 });
export const Cost = Nullable(
  Type.Number({
    description:
      'The sum of the cost fields of supplied cards; the costs of a card with several suppliers are divided among them. Null without costs.view',
  }),
);
const Risk = Choice(['low', 'moderate', 'high']);
export type Concentration = Static<typeof Risk>;
const Hhi = IntegerIn(0, 10_000, 'Index of Herfindahl and Hirschman: the sum of squared shares in percent');

export const VendorConcentrationSchema = object(
  {
    groups: Type.Integer({ minimum: 0, description: 'Groups of suppliers' }),
    total_cost: Cost,
    hhi_spend: Nullable(Hhi),
    hhi_applications: Hhi,
    concentration: Risk,
    spend_share_top: Nullable(
      object(
        { top_1: Share, top_3: Share, top_5: Share },
        { description: 'Shares of the largest group, the three and the five largest' },
      ),
    ),
    critical_app_count: Type.Integer({ minimum: 0, description: 'Critical applications with a supplier' }),
    by_category: arrayOf({
      category: Type.String(),
      groups: Count,
      hhi_applications: Hhi,
      hhi_spend: Nullable(Hhi),
      concentration: Risk,
    }),
    top: arrayOf(
      {
        group_name: Type.String(),
        app_count: Count,
        itc_count: Count,
        critical_app_count: Count,
        sole_critical_app_count: Count,
        sole_critical_share: Share,
        total_cost: Cost,
        spend_share: Nullable(Share),
        risk: Risk,
        reasons: Type.Array(Type.String()),
      },
      { maxItems: 10, description: 'The groups with the highest costs, or the most critical applications' },
    ),
  },
  { $id: 'VendorConcentration' },
);
export type ConcentrationFigures = Static<typeof VendorConcentrationSchema>;
type GroupRisk = ConcentrationFigures['top'][number];
type CategoryConcentration = ConcentrationFigures['by_category'][number];

/** Thresholds of the Herfindahl-Hirschman index in the merger guidelines of the United States (2023). */
const [MODERATE, HIGH] = [1_000, 1_800];
/** Shares of spend, or of critical applications, from which one group is a risk. */
const [SHARE_MODERATE, SHARE_HIGH] = [0.1, 0.25];
/** The maximum number of groups in the response. */
const TOP = 10;

/**
 * The Herfindahl-Hirschman index: the sum of the squared shares in percent, from near 0 (many equal shares) to 10,000
 * (one supplier). 0 without data.
 */
export function herfindahl(parts: readonly number[]): number {
  const total = parts.reduce((sum, part) => sum + part, 0);
  if (total <= 0) return 0;
  return Math.round(parts.reduce((sum, part) => sum + ((100 * part) / total) ** 2, 0));
}

export const concentrationOf = (hhi: number): Concentration =>
  hhi > HIGH ? 'high' : hhi >= MODERATE ? 'moderate' : 'low';

/** The concentration of suppliers. A company and its subsidiaries count as one group. */
export function concentrationFigures(
  figures: readonly GroupFigures[],
  criticalApps: number,
): ConcentrationFigures {
  const groups = summed(figures, ({ group }) => group);
  const seesCosts = figures.every(({ cost }) => cost !== null);
  const costs = groups.map(({ cost }) => Math.max(0, cost ?? 0)).sort((a, b) => b - a);
  const total = costs.reduce((sum, cost) => sum + cost, 0);
  const hhiSpend = seesCosts ? herfindahl(costs) : null;
  const hhiApplications = herfindahl(groups.map(({ apps }) => apps));
  const top = (count: number) =>
    total === 0
      ? 0
      : share(
          costs.slice(0, count).reduce((sum, cost) => sum + cost, 0),
          total,
        );
  const risks = groups
    .map((group) => riskOf(group, criticalApps, seesCosts ? total : null))
    .sort(
      (a, b) =>
        (b.total_cost ?? 0) - (a.total_cost ?? 0) ||
        b.sole_critical_app_count - a.sole_critical_app_count ||
        b.app_count - a.app_count ||
        (a.group_name < b.group_name ? -1 : 1),
    );
  return {
    groups: groups.length,
    total_cost: seesCosts ? round(total, 2) : null,
    hhi_spend: hhiSpend,
    hhi_applications: hhiApplications,
    concentration: concentrationOf(hhiSpend ?? hhiApplications),
    spend_share_top: seesCosts ? { top_1: top(1), top_3: top(3), top_5: top(5) } : null,
    critical_app_count: criticalApps,
    by_category: categoriesOf(figures, seesCosts),
    top: risks.slice(0, TOP),
  };
}

function riskOf(group: GroupFigures, criticalApps: number, total: number | null): GroupRisk {
  const spend = total === null || total === 0 ? null : share(Math.max(0, group.cost ?? 0), total);
  const sole = criticalApps === 0 ? 0 : share(group.soleCriticalApps, criticalApps);
  const reasons: string[] = [];
  if (spend !== null && spend >= SHARE_MODERATE) reasons.push(`${percent(spend)} of all spend goes to it`);
  if (group.soleCriticalApps > 1 && sole >= SHARE_MODERATE) {
    reasons.push(
      `${group.soleCriticalApps} of ${criticalApps} applications critical to the business have no other supplier`,
    );
  }
  const worst = Math.max(spend ?? 0, group.soleCriticalApps > 1 ? sole : 0);
  return {
    group_name: group.group,
    app_count: group.apps,
    itc_count: group.components,
    critical_app_count: group.criticalApps,
    sole_critical_app_count: group.soleCriticalApps,
    sole_critical_share: sole,
    total_cost: group.cost === null ? null : round(group.cost, 2),
    spend_share: spend,
    risk: worst >= SHARE_HIGH ? 'high' : worst >= SHARE_MODERATE ? 'moderate' : 'low',
    reasons,
  };
}

function categoriesOf(figures: readonly GroupFigures[], seesCosts: boolean): CategoryConcentration[] {
  const categorised = figures.filter(({ category }) => category !== null);
  const byCategory = Map.groupBy(categorised, ({ category }) => category!);
  return [...byCategory]
    .map(([category, all]) => {
      const groups = summed(all, ({ group }) => group);
      const hhiSpend = seesCosts ? herfindahl(groups.map(({ cost }) => Math.max(0, cost ?? 0))) : null;
      const hhiApplications = herfindahl(groups.map(({ apps }) => apps));
      return {
        category,
        groups: groups.length,
        hhi_applications: hhiApplications,
        hhi_spend: hhiSpend,
        concentration: concentrationOf(hhiSpend ?? hhiApplications),
      };
    })
    .sort((a, b) => (a.category < b.category ? -1 : 1));
}

function summed(figures: readonly GroupFigures[], by: (row: GroupFigures) => string): GroupFigures[] {
  return [...Map.groupBy(figures, by).values()].map((rows) => {
    const sum = (value: (row: GroupFigures) => number) => rows.reduce((total, row) => total + value(row), 0);
    const [first] = rows as [GroupFigures, ...GroupFigures[]];
    return {
      group: first.group,
      category: first.category,
      apps: sum(({ apps }) => apps),
      components: sum(({ components }) => components),
      criticalApps: sum(({ criticalApps }) => criticalApps),
      soleCriticalApps: sum(({ soleCriticalApps }) => soleCriticalApps),
      cost: rows.some(({ cost }) => cost === null) ? null : sum(({ cost }) => cost ?? 0),
    };
  });
}

const share = (part: number, whole: number): number => round(part / whole, 4);
const percent = (value: number): string => `${Math.round(value * 100)} %`;
const round = (value: number, digits: number): number => Number(value.toFixed(digits));
