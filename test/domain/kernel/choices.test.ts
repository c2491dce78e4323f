import { unknownChoice } from '../../../domain/kernel/choices.ts';

const error = { field: 'attributes.hostingType', code: 'unknown_option', message: 'is none' };
const options = ['onPremise', 'cloudSaaS', 'cloudIaaS'];
const labels = new Map([['cloudSaaS', 'Software as a service']]);
const nearest = (value: string) => unknownChoice(error, value, options, labels).nearest;

it.each([
  ['on-premise', 'onPremise'],
  ['On Premise', 'onPremise'],
  ['onPremsie', 'onPremise'],
  ['software as a service', 'cloudSaaS'],
  ['cloudsass', 'cloudSaaS'],
  ['mainframe', undefined],
  ['', undefined],
])('the nearest of "%s" is %s', (given, expected) => expect(nearest(given)).toBe(expected));

it('repeats a bounded part of the value and of the list', () => {
  const many = Array.from({ length: 200 }, (_, n) => `option${n}`);
  const { value, allowed } = unknownChoice(error, 'x'.repeat(1000), many);
  expect(value).toHaveLength(61);
  expect(allowed).toHaveLength(50);
});
