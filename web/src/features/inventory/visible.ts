import { useDebouncedCallback } from '@mantine/hooks';
import { useRef, useState } from 'react';

/** The lines in sight, and how many beyond them are read ahead; negative upwards. */
export interface VisibleLines {
  from: number;
  to: number;
  ahead: number;
}

/** How long the scrollbar must rest at a far place until its rows are read, in milliseconds. */
const REST_MS = 60;
/** Lines that a move of the scrollbar passes at least. */
const FAR = 400;
/** Lines between two answers, so that not each step of the scroll is one. */
const STEP = 50;
/** For how many milliseconds of scrolling at the present speed rows are read ahead. */
const AHEAD_MS = 700;
/** Lines that are read ahead at least and at most. */
const AHEAD = { least: 100, most: 1_000 };

/** Which lines are in sight or will soon be, by the direction and the speed of the scroll. */
export function useVisibleLines() {
  const [lines, setLines] = useState<VisibleLines>({ from: 0, to: STEP, ahead: AHEAD.least });
  const last = useRef({ from: 0, at: 0, speed: 0, lines });
  const show = () => setLines(last.current.lines);
  const showLater = useDebouncedCallback(show, REST_MS);
  const onRange = (from: number, to: number) => {
    const at = performance.now();
    const moved = from - last.current.from;
    const isFar = Math.abs(moved) > FAR;
    // a move of the scrollbar says nothing about where it goes next
    const speed = isFar ? 0 : (last.current.speed + moved / Math.max(16, at - last.current.at)) / 2;
    const side = speed < 0 ? -1 : 1;
    // what is already read ahead is given up slowly, since speeds vary from frame to frame
    const before = isFar ? 0 : side * last.current.lines.ahead - STEP;
    const ahead = Math.min(AHEAD.most, Math.max(AHEAD.least, before, Math.abs(speed) * AHEAD_MS));
    const next = {
      from: Math.floor(from / STEP) * STEP,
      to: Math.ceil((to + 1) / STEP) * STEP,
      ahead: side * Math.ceil(ahead / STEP) * STEP,
    };
    const isSame = next.from === lines.from && next.to === lines.to && next.ahead === lines.ahead;
    last.current = { from, at, speed, lines: isSame ? lines : next };
    if (isFar) showLater();
    else show();
  };
  return { lines, onRange };
}
