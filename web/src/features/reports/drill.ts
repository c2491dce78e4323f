import { useNavigate, useRouter } from '@tanstack/react-router';
import type { BubbleAxis, Chart } from '../../../../reports/kernel/charts/charts.types.ts';
import { useMetamodel } from '../../kit/metamodel.tsx';
import type { Report } from '../../kit/reportCatalogue.ts';
import type { Params } from '../../kit/reports.ts';

/** The card type that a report is about; undefined for reports of several. */
export function typeIn(report: Report, params: Params): string | undefined {
  const own = report.parameters.find(({ key }) => key === 'type' || key === 'row_type');
  const type = own && (params[own.key] ?? own.default);
  return type === undefined ? undefined : String(type);
}

/** Opens what a mark stands for: the card, or the inventory with the cards of a cell. */
export function useDrill(report: Report, params: Params, chart: Chart) {
  const navigate = useNavigate();
  const router = useRouter();
  const { sections, label } = useMetamodel();
  const type = typeIn(report, params) ?? '';
  const fields = sections(type).flatMap((section) => section.fields);
  /** The condition of a step of an axis; fields and options are found by the names that the chart has. */
  const conditionOf = ({ name, steps }: BubbleAxis, at: number): string | undefined => {
    const field = fields.find((one) => label(one) === name);
    const option = field?.options?.find((one) => label(one) === steps?.[at]);
    return field && option ? `attributes.${field.key} = "${option.key}"` : undefined;
  };
  return (ref: string, isApart: boolean) => {
    const cell = /^cell (\d+) (\d+)$/.exec(ref);
    if (cell && chart.kind === 'bubbles') {
      const conditions = [conditionOf(chart.x, Number(cell[1])), conditionOf(chart.y, Number(cell[2]))];
      if (conditions.some((one) => one === undefined)) return;
      const own = params.filter ? [`(${params.filter})`] : [];
      void navigate({ to: '/inventory', search: { type, filter: [...own, ...conditions].join(' and ') } });
    } else if (/^[0-9a-f-]{36}$/.test(ref)) {
      if (isApart)
        window.open(router.buildLocation({ to: '/cards/$id', params: { id: ref } }).href, '_blank');
      else void navigate({ to: '/cards/$id', params: { id: ref } });
    }
  };
}
