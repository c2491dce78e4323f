import { useMemo } from 'react';
import type { ChartContext } from '../../../reports/kernel/charts/charts.labels.ts';
import { lookOf } from '../../../reports/kernel/charts/charts.look.ts';
import type { Look } from '../../../reports/kernel/charts/charts.marks.ts';
import { remembered, useDisplay } from './display.tsx';
import { today } from './lifecycle.ts';
import { type Language, useLanguage } from './messages.tsx';
import { useMetamodel } from './metamodel.tsx';

/** How charts are drawn in the colours of the page, with the settings of the workspace. */
export function useLook(width?: number, height?: number): Look {
  const { currency, dateFormat, theme } = useDisplay();
  const { language } = useLanguage();
  return lookFor(currency, dateFormat, language, theme, width, height);
}

const lookFor = remembered(
  (
    currency: string,
    dateFormat: string,
    language: Language,
    theme: 'light' | 'dark',
    width: number | undefined,
    height: number | undefined,
  ): Look => ({
    ...lookOf({ currency, dateFormat, language }, { theme, width }),
    ...(height !== undefined && { height }),
  }),
);

/** Names and colours of the metamodel for charts, in the language of the user. */
export function useChartContext(day = today()): ChartContext {
  const { types, sections, label, plural } = useMetamodel();
  const { language } = useLanguage();
  return useMemo(() => {
    const cardTypes = types.map((type) => {
      const fields = sections(type.key)
        .flatMap((section) => section.fields)
        .map((field) => {
          const options = field.options ?? [];
          const known = {
            label: label(field),
            type: field.type,
            optionLabels: new Map(options.map((option) => [option.key, label(option)])),
            optionColors: new Map(options.flatMap(({ key, color }) => (color ? [[key, color]] : []))),
          };
          return [field.key, known] as const;
        });
      const { key, color, category, is_hidden } = type;
      return [
        key,
        {
          label: label(type),
          plural: plural(type),
          color,
          category,
          category_label: label({ label: category ?? '', translations: type.translations }, 'category'),
          is_hidden,
          fields: new Map(fields),
          subtypes: [],
        },
      ] as const;
    });
    return { metamodel: { cardTypes: new Map(cardTypes) }, today: day, language };
  }, [types, sections, label, plural, day, language]);
}
