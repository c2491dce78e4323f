import { useComputedColorScheme } from '@mantine/core';
import { createContext, type ReactNode, useContext, useMemo } from 'react';
import { useBootstrap } from '../shell/queries.ts';

/** How values are displayed. */
interface Display {
  theme: 'light' | 'dark';
  currency: string;
  dateFormat: string;
}

const Context = createContext<Display | undefined>(undefined);

/** Reads the settings once for all cells and marks, of which a page has thousands. */
export function DisplayProvider({ children }: { children: ReactNode }) {
  const theme = useComputedColorScheme('light');
  const { currency, date_format: dateFormat } = useBootstrap();
  const value = useMemo(() => ({ theme, currency, dateFormat }), [theme, currency, dateFormat]);
  return <Context value={value}>{children}</Context>;
}

export function useDisplay(): Display {
  const found = useContext(Context);
  if (!found) throw new Error('used outside of DisplayProvider');
  return found;
}

const MOST = 500;

/** Remembers what a function made of texts and numbers, for the latest of them. */
export function remembered<A extends (string | number | undefined)[], R>(
  make: (...args: A) => R,
): (...args: A) => R {
  const made = new Map<string, R>();
  return (...args) => {
    const key = JSON.stringify(args);
    const known = made.get(key);
    if (known !== undefined) return known;
    if (made.size >= MOST) made.clear();
    const result = make(...args);
    made.set(key, result);
    return result;
  };
}
