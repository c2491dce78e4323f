import { useFormat } from '../../kit/format.ts';
import type { Measure } from './map.colours.ts';

/** Writes a number of a measure with its unit, short. */
export function useWriteValue({ kind }: Measure): (value: number) => string {
  const { number, shortMoney, percent } = useFormat();
  return (value) => {
    if (kind === 'money') return shortMoney(value);
    if (kind === 'percent') return percent(value);
    return kind === 'options' ? percent(value * 100) : number(value);
  };
}
