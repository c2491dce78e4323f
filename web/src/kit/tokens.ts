import { radius, type Scheme, schemes, space, type } from '../../../reports/kernel/charts/charts.tokens.ts';

const px = (pixels: number) => `${pixels}px`;

/** The CSS variables of a scheme, by name. */
function colourVariables({ tones, lifecycle, quality, ...scheme }: Scheme): Record<string, string> {
  // the placeholders of Mantine have too little contrast
  const variables: Record<string, string> = { '--mantine-color-placeholder': 'var(--text3)' };
  for (const [name, value] of Object.entries(scheme)) {
    if (typeof value === 'string') variables[`--${name}`] = value;
  }
  for (const [name, { ink, tint }] of Object.entries(tones)) {
    variables[`--${name}`] = ink;
    variables[`--${name}-tint`] = tint;
  }
  for (const [name, value] of Object.entries(lifecycle)) variables[`--phase-${name}`] = value;
  for (const [step, value] of quality.entries()) variables[`--quality-${step + 1}`] = value;
  // Mantine's own greys have too little contrast
  variables['--mantine-color-dimmed'] = scheme.text2;
  variables['--mantine-color-placeholder'] = scheme.text3;
  return variables;
}

/** The variables of both schemes, which do not depend on colours. */
const sizeVariables = Object.fromEntries([
  ...Object.entries(space).map(([name, value]) => [`--space-${name}`, px(value)]),
  ...Object.entries(radius).map(([name, value]) => [`--radius-${name}`, px(value)]),
  ...Object.entries(type).flatMap(([name, { size, line }]) => [
    [`--text-${name}`, px(size)],
    [`--line-${name}`, px(line)],
  ]),
]);

/** All variables, for the provider of Mantine's theme. */
export const cssVariables = {
  variables: sizeVariables,
  light: colourVariables(schemes.light),
  // of the messages of fields; Mantine's own is too dark to be read
  dark: { ...colourVariables(schemes.dark), '--mantine-color-error': schemes.dark.tones.bad.ink },
};
