import { askedActs } from './asked.ts';
import { attachedActs } from './attached.ts';
import { bpmActs } from './bpm.ts';
import { cardActs } from './cards.ts';
import { costActs } from './costs.ts';
import { dataFlowActs } from './data-flows.ts';
import { decisionActs } from './decisions.ts';
import { diagramActs } from './diagrams.ts';
import { findingActs } from './findings.ts';
import type { Acts } from './hand.ts';
import { ppmActs } from './ppm.ts';
import { riskActs } from './risks.ts';
import { workspaceActs } from './workspace.ts';

/** Writes of every kind, except those of portals. */
export const workspaceWide: Acts[] = [
  cardActs,
  attachedActs,
  costActs,
  workspaceActs,
  askedActs,
  findingActs,
  decisionActs,
  diagramActs,
  ppmActs,
  riskActs,
  bpmActs,
  dataFlowActs,
];
