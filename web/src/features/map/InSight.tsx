import { createContext, type ReactNode, useContext, useEffect, useMemo, useRef, useState } from 'react';

type Watch = (element: Element, onChange: (entry: IntersectionObserverEntry) => void) => () => void;

const Context = createContext<Watch | undefined>(undefined);

/** How far beyond the visible part boxes are drawn, in pixels. */
const MARGIN = 400;

/** Watches what of a scrolling element is in sight. */
export function SightProvider({ root, children }: { root: Element | null; children: ReactNode }) {
  const watch = useMemo((): Watch | undefined => {
    if (!root) return undefined;
    const listeners = new Map<Element, (entry: IntersectionObserverEntry) => void>();
    const observer = new IntersectionObserver(
      (entries) => {
        for (const entry of entries) listeners.get(entry.target)?.(entry);
      },
      { root, rootMargin: `${MARGIN}px 0px` },
    );
    return (element, onChange) => {
      listeners.set(element, onChange);
      observer.observe(element);
      return () => {
        listeners.delete(element);
        observer.unobserve(element);
      };
    };
  }, [root]);
  return <Context value={watch}>{children}</Context>;
}

interface InSightProps {
  /** About where it begins below the top of the page, and how high it is, in pixels. */
  top: number;
  height: number;
  className?: string | undefined;
  children(): ReactNode;
}

/** What is far out of sight is only an empty place of its height. */
export function InSight({ top, height, className, children }: InSightProps) {
  const watch = useContext(Context);
  const place = useRef<HTMLDivElement>(null);
  const [{ isNear, known }, set] = useState({ isNear: top < window.innerHeight, known: height });
  useEffect(
    () =>
      watch?.(place.current!, ({ isIntersecting, boundingClientRect }) =>
        set((before) => ({
          isNear: isIntersecting,
          known: before.isNear ? boundingClientRect.height : before.known,
        })),
      ),
    [watch],
  );
  return (
    <div ref={place} className={className} style={isNear ? undefined : { height: known }}>
      {isNear && children()}
    </div>
  );
}
