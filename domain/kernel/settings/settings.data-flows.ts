import { optionList } from './settings.costs.ts';
import { plain } from './settings.definition.ts';

/** How often data flows. */
export const flowFrequencies = plain(
  optionList({ key: 'daily', label: 'Daily' }, 'Data flows keep a frequency that is removed'),
  [
    { key: 'realTime', label: 'Real-Time' },
    { key: 'hourly', label: 'Hourly' },
    { key: 'daily', label: 'Daily' },
    { key: 'weekly', label: 'Weekly' },
    { key: 'monthly', label: 'Monthly' },
    { key: 'onDemand', label: 'On Demand' },
    { key: 'batch', label: 'Batch' },
  ],
  ['flow-frequencies', 'FlowFrequencies', 'the frequencies of data flows', 'frequencies'],
  {
    readableBy: 'public',
    isPortable: true,
    example: [{ key: 'daily', label: 'Daily' }],
  },
);
