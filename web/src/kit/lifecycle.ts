/** Phases of a card's lifecycle, in order. */
export const phases = ['plan', 'phaseIn', 'active', 'phaseOut', 'endOfLife'] as const;
export type Phase = (typeof phases)[number];
export type Lifecycle = Partial<Record<Phase, string>>;

/** The phase on a day (`YYYY-MM-DD`): the last one that has begun, or the plan before it; undefined without any. */
export function phaseOn(lifecycle: Lifecycle | null, day: string): Phase | undefined {
  const begun = phases.findLast((phase) => (lifecycle?.[phase] ?? '9999') <= day);
  return begun ?? (phases.some((phase) => lifecycle?.[phase]) ? 'plan' : undefined);
}

export const today = (): string => new Date().toISOString().slice(0, 10);

/** Phases with a begin, and the begin of the next one as their end; the end of life has none. */
export function spans(lifecycle: Lifecycle): { phase: Phase; from: string; to: string | undefined }[] {
  const begun = phases.flatMap((phase) => (lifecycle[phase] ? [{ phase, from: lifecycle[phase] }] : []));
  return begun.map((one, at) => ({ ...one, to: begun[at + 1]?.from }));
}
