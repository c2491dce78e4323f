import type { QueryMeasure } from '../../../domain/exchange/exports/report-query.job.ts';

/** Words before what is counted. */
export const counting = ['how many', 'the number of', 'number of', 'count of', 'count', 'amount of'];
/** Words before what is listed. */
export const listing = ['show me', 'show', 'list', 'which', 'find', 'give me', 'tell me', 'who'];
/** Before what a verb stands of: "does each provider offer". */
export const eachOf = ['does each', 'do each', 'does every'];
/** What somebody does with cards, which says nothing beside "does each". */
export const doing = ['offer', 'provide', 'have', 'use', 'support', 'own', 'supply', 'run'];
/** Words before what groups are made by. */
export const grouping = [
  'grouped by',
  'group by',
  'broken down by',
  'split by',
  'by each',
  'by',
  'per',
  'for each',
  'for every',
  'in each',
  ...eachOf,
];
/** Words before what is not there. */
export const lacking = [
  'without any',
  'without',
  'with no',
  'that have no',
  'having no',
  'have no',
  'has no',
  'lacking',
  'missing',
  'no',
  ...['supported', 'used', 'provided', 'offered', 'owned'].flatMap((done) => [
    `not ${done} by any`,
    `not ${done} by a`,
  ]),
];
/** Words before what is there, or before a condition. */
export const having = [
  'that have',
  'which have',
  'having',
  'with',
  'that use',
  'using',
  'whose',
  'where',
  'has',
  'have',
];
/** Words before a condition that must not hold. */
export const negating = [
  'that are not',
  'which are not',
  'are not',
  'is not',
  'not',
  'except',
  'excluding',
  'other than',
];

/** Functions with the words for them. */
export const functions: [fn: QueryMeasure, ...words: string[]][] = [
  [{ fn: 'avg' }, 'average', 'mean', 'avg'],
  [{ fn: 'percentile', p: 0.5 }, 'median'],
  [{ fn: 'sum' }, 'total', 'sum of', 'sum', 'overall', 'combined'],
  [{ fn: 'min' }, 'minimum', 'lowest', 'smallest', 'earliest', 'min'],
  [{ fn: 'max' }, 'maximum', 'highest', 'largest', 'greatest', 'latest', 'max'],
];

/** Words that say nothing by themselves. */
export const skipped =
  'a an the of our we us their its it do does did are is was were be been being has have had there that which who in to for on at from all and me please what tagged hosted reach reaching currently now right today any some with or'.split(
    ' ',
  );
