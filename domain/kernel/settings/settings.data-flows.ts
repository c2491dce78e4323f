import { optionList } from './settings.costs.ts';
import { plain } from './settings.definition.ts';

/** How often data flows. */
export const flowFrequencies = plain(
  optionList({ key: 'daily', label: 'Daily' }, 'Data flows keep a frequency that is removed'),
  [
    { key: 'realTime', label: 'Real-Time', translations: { de: 'Echtzeit' } },
    { key: 'hourly', label: 'Hourly', translations: { de: 'Stündlich' } },
    { key: 'daily', label: 'Daily', translations: { de: 'Täglich' } },
    { key: 'weekly', label: 'Weekly', translations: { de: 'Wöchentlich' } },
    { key: 'monthly', label: 'Monthly', translations: { de: 'Monatlich' } },
    { key: 'onDemand', label: 'On Demand', translations: { de: 'Bei Bedarf' } },
    { key: 'batch', label: 'Batch', translations: { de: 'Stapel' } },
  ],
  ['flow-frequencies', 'FlowFrequencies', 'the frequencies of data flows', 'frequencies'],
  {
    readableBy: 'public',
    isPortable: true,
    example: [{ key: 'daily', label: 'Daily' }],
  },
);
