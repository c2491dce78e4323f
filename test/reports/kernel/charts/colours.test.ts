import { cardTypeSeeds } from '../../../../domain/inventory/metamodel/metamodel.seeds.data.ts';
import {
  contrast,
  distance,
  judgement,
  kindsOfBlindness,
  LEAST,
  LEAST_DISTANCE,
  markColour,
  normalised,
  smallestDistance,
  textOn,
  typeColours,
} from '../../../../reports/kernel/charts/charts.colours.ts';
import { radius, schemes, space, type, weight } from '../../../../reports/kernel/charts/charts.tokens.ts';

/** Fields whose default colours are chosen for colour blindness. */
const chosen = ['functionalSuitability', 'technicalSuitability', 'timeModel', 'businessCriticality'];

const optionColours = (field: string): string[] =>
  cardTypeSeeds
    .flatMap(({ fields_schema }) => fields_schema.flatMap(({ fields }) => fields))
    .find(({ key }) => key === field)!
    .options!.map(({ color }) => color!);

describe.each(Object.entries(schemes))('the %s scheme', (name, scheme) => {
  it('has texts and marks of enough contrast', () => {
    const surfaces = [scheme.panel, scheme.canvas, scheme.sunken];
    for (const surface of surfaces) {
      for (const text of [scheme.text, scheme.text2, scheme.text3, scheme.accent])
        expect(contrast(text, surface), `${text} on ${surface}`).toBeGreaterThanOrEqual(LEAST.text);
      expect(contrast(scheme.border, surface)).toBeGreaterThanOrEqual(LEAST.mark);
    }
    expect(contrast(scheme.onAccent, scheme.accent)).toBeGreaterThanOrEqual(LEAST.text);
    for (const { ink, tint } of Object.values(scheme.tones))
      expect(contrast(ink, tint), ink).toBeGreaterThanOrEqual(LEAST.text);
    const marks = [
      ...scheme.categorical,
      ...Object.values(scheme.lifecycle),
      ...scheme.quality,
      scheme.others,
    ];
    for (const mark of marks) {
      expect(contrast(mark, scheme.panel), mark).toBeGreaterThanOrEqual(LEAST.mark);
      expect(contrast(textOn(mark, scheme), mark), mark).toBeGreaterThanOrEqual(LEAST.text);
    }
    for (const fill of [...scheme.sequential, ...scheme.diverging])
      expect(contrast(textOn(fill, scheme), fill), fill).toBeGreaterThanOrEqual(LEAST.text);
  });

  it('has palettes that people with colour blindness can tell apart', () => {
    const lifecycle = Object.values(scheme.lifecycle);
    for (const palette of [scheme.categorical, lifecycle, scheme.quality])
      expect(smallestDistance(palette)).toBeGreaterThanOrEqual(LEAST_DISTANCE);
    for (const steps of [scheme.sequential, scheme.diverging]) {
      for (const [at, step] of steps.slice(1).entries())
        expect(distance(steps[at]!, step, 'deuteranopia')).toBeGreaterThanOrEqual(LEAST_DISTANCE);
    }
    const least = (kind: (typeof kindsOfBlindness)[number]) =>
      Math.min(
        ...scheme.categorical.flatMap((one, at) =>
          scheme.categorical.slice(at + 1).map((other) => distance(one, other, kind)),
        ),
      ).toFixed(1);
    // as measured when the palettes were chosen
    expect(kindsOfBlindness.map(least)).toEqual(
      name === 'light' ? ['11.5', '11.4', '9.4'] : ['8.4', '8.9', '6.5'],
    );
  });

  it('derives marks of enough contrast from any stored colour', () => {
    const stored = [
      ...cardTypeSeeds.map(({ color }) => color),
      '#ffffff',
      '#000000',
      '#ff0',
      'orange',
      'nonsense',
    ];
    for (const color of stored) {
      const { tint, ink } = typeColours(color, scheme);
      expect(contrast(ink, tint), color).toBeGreaterThanOrEqual(LEAST.text);
      expect(contrast(markColour(color, scheme), scheme.panel), color).toBeGreaterThanOrEqual(LEAST.mark);
    }
  });
});

it('has scales of distances, corners, sizes and weights', () => {
  expect(Object.values(space)).toEqual([4, 8, 12, 16, 24, 32, 48]);
  expect(Object.values(radius)).toEqual([4, 6, 8, 12]);
  expect(Object.values(type).map(({ size, line }) => `${size}/${line}`)).toEqual(
    '11/16 12/16 13/20 14/20 16/24 22/28 26/34'.split(' '),
  );
  expect(Object.values(weight)).toEqual([400, 450, 550, 600]);
});

describe('colours of options', () => {
  it.each(chosen)('of %s differ for colour-blind readers and stand out from the panel', (field) => {
    const colours = optionColours(field);
    expect(smallestDistance(colours)).toBeGreaterThanOrEqual(LEAST_DISTANCE);
    for (const color of colours) expect(markColour(color, schemes.light)).toBe(color);
  });

  it('are judged by their hue', () => {
    expect(
      ['#16776a', '#4caf50', '#8c1d18', '#d32f2f', '#7c8aa5', '#2f86e0', undefined].map(judgement),
    ).toEqual([1, 1, -1, -1, 0, 0, 0]);
    expect(['#ABC', 'Teal', '#11223344', 'none', undefined].map(normalised)).toEqual([
      '#aabbcc',
      '#008080',
      '#112233',
      undefined,
      undefined,
    ]);
  });

  it('follow the definitions of WCAG and of the built-in type of providers', () => {
    // black on white is 21, and this grey is the lightest that passes
    expect([
      contrast('#000000', '#ffffff'),
      contrast('#777777', '#ffffff') < 4.5,
      contrast('#767676', '#ffffff') >= 4.5,
    ]).toEqual([21, true, true]);
    expect(contrast('#ffa31f', '#ffffff').toFixed(1)).toBe('2.0');
  });
});
