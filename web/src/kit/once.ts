import { useRef } from 'react';

interface Ends<A extends unknown[]> {
  onSave(...args: A): void;
  onCancel(): void;
}

/** Props of an editor that ends once: a control that goes away after a key also loses the focus, which would save again. */
export function useOnce<A extends unknown[], P extends Ends<A>>(given: P & Ends<A>): P {
  const isDone = useRef(false);
  const once = (act: () => void) => {
    if (isDone.current) return;
    isDone.current = true;
    act();
  };
  return {
    ...given,
    onSave: (...args: A) => once(() => given.onSave(...args)),
    onCancel: () => once(given.onCancel),
  };
}
