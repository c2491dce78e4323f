import { inMonths } from './demo.dates.ts';
import { rowsOf } from './demo.rows.ts';
import type { DemoCardSource } from './demo.types.ts';

const objective = rowsOf('Objective');
const initiative = rowsOf('Initiative');

const goal = (
  objectiveType: 'strategic' | 'tactical' | 'operational',
  targetMonth: number,
  progress: number,
) => ({
  objectiveType,
  targetDate: inMonths(targetMonth),
  progress,
});

export const objectives: DemoCardSource[] = [
  objective(
    'OBJ-ONE-CORE',
    'One policy system for all lines',
    'Every contract of the group is administered in PolicyDesk, and the systems it replaces are switched off.',
    goal('strategic', 24, 45),
    { approval: 'APPROVED' },
  ),
  objective(
    'OBJ-CLAIMS-SPEED',
    'Settle simple claims within two days',
    'Eight out of ten claims below two thousand pounds are paid or in repair two days after the call.',
    goal('strategic', 12, 60),
    { approval: 'APPROVED' },
  ),
  objective(
    'OBJ-SELF-SERVICE',
    'Seven in ten changes without a call',
    'Customers who wish to can change, renew and claim by themselves, on any device.',
    goal('tactical', 14, 72),
  ),
  objective(
    'OBJ-LEAVE-SWINDON',
    'Leave the Swindon data centre',
    'No system depends on the rented hall when the lease ends.',
    goal('tactical', 20, 35),
    { approval: 'APPROVED' },
  ),
  objective(
    'OBJ-RESILIENCE',
    'Keep important services within tolerance',
    'Every important business service recovers within its impact tolerance in a test each year.',
    goal('strategic', 9, 40),
    { tags: ['Regulation/DORA'] },
  ),
  objective(
    'OBJ-RUN-COST',
    'Cut run cost by a fifth',
    'Technology run cost falls from nineteen to fifteen million pounds a year without loss of service.',
    goal('operational', 30, 20),
  ),
  objective(
    'OBJ-TRUSTED-DATA',
    'One trusted view of the customer',
    'Each customer has one record across lines and companies, and consent is known everywhere.',
    goal('tactical', 10, 55),
    { tags: ['Regulation/GDPR'] },
  ),
  objective(
    'OBJ-FRAUD',
    'Stop twelve million pounds of fraud a year',
    'Fraud found before payment rises by half, while honest claimants wait no longer.',
    goal('operational', 6, 80),
  ),
];

type Status = 'onTrack' | 'atRisk' | 'offTrack' | 'onHold' | 'completed';
type Size = 'high' | 'medium' | 'low';

const plan = (
  initiativeStatus: Status,
  businessValue: Size,
  effort: Size,
  [costBudget, costActual]: [number, number],
  [start, end]: [number, number],
) => ({
  initiativeStatus,
  businessValue,
  effort,
  costBudget,
  costActual,
  startDate: inMonths(start),
  endDate: inMonths(end),
});

export const initiatives: DemoCardSource[] = [
  initiative(
    'INI-HORIZON',
    'Horizon',
    'Programme that brings all lines to one core and switches off what it replaces. Reports to the board every month.',
    plan('atRisk', 'high', 'high', [18_500_000, 9_240_000], [-30, 24]),
    { subtype: 'program', lifecycle: { plan: -36, active: -30, endOfLife: 24 }, approval: 'APPROVED' },
  ),
  initiative(
    'INI-SME-MIGRATION',
    'Small business to PolicyDesk',
    'Builds the package product in PolicyDesk and moves 38,000 contracts from Ledgerline at renewal.',
    plan('atRisk', 'high', 'high', [6_200_000, 2_950_000], [-14, 18]),
    {
      subtype: 'project',
      parent: 'INI-HORIZON',
      tags: ['Line of Business/Commercial'],
      lifecycle: { plan: -20, active: -14, endOfLife: 18 },
    },
  ),
  initiative(
    'INI-NL-MIGRATION',
    'Dutch branch to PolicyDesk',
    'Moves the Dutch portfolio before support of PolisPlus ends, beginning with a pilot group.',
    plan('onTrack', 'high', 'high', [4_100_000, 1_180_000], [-8, 15]),
    { subtype: 'project', parent: 'INI-HORIZON', lifecycle: { plan: -12, active: -8, endOfLife: 15 } },
  ),
  initiative(
    'INI-LEDGERLINE-OFF',
    'Switch off Ledgerline',
    'Archives closed contracts readably for forty years, ends interfaces and returns the machine.',
    plan('onHold', 'high', 'medium', [1_900_000, 120_000], [6, 22]),
    {
      subtype: 'project',
      parent: 'INI-HORIZON',
      tags: ['Rationalisation/Wave 1'],
      lifecycle: { plan: -2, active: 6, endOfLife: 22 },
    },
  ),
  initiative(
    'INI-BROKER-PORTAL',
    'New broker portal',
    'Replaces BrokerNet by pages on the engagement platform that quote, bind and explain commission.',
    plan('onTrack', 'medium', 'medium', [1_650_000, 210_000], [-4, 16]),
    { subtype: 'project', lifecycle: { plan: -9, active: -4, endOfLife: 16 } },
  ),
  initiative(
    'INI-CLAIMS-AHEAD',
    'Claims Ahead',
    'Programme for faster claims: straight-through settlement, pictures instead of visits, better suppliers.',
    plan('onTrack', 'high', 'medium', [5_400_000, 3_020_000], [-22, 12]),
    { subtype: 'program', lifecycle: { plan: -28, active: -22, endOfLife: 12 }, approval: 'APPROVED' },
  ),
  initiative(
    'INI-DAMAGE-AI',
    'Damage from photographs',
    "Introduces the estimating agent for cars, with a handler's check and a fairness review before each step.",
    plan('onTrack', 'high', 'medium', [980_000, 540_000], [-12, 6]),
    {
      subtype: 'project',
      parent: 'INI-CLAIMS-AHEAD',
      tags: ['Line of Business/Motor'],
      lifecycle: { plan: -14, active: -12, endOfLife: 6 },
    },
  ),
  initiative(
    'INI-CLAIMSTRACK-OFF',
    'Close ClaimsTrack',
    'Settles or moves the last injury files and archives the rest.',
    plan('offTrack', 'medium', 'medium', [640_000, 610_000], [-16, 8]),
    {
      subtype: 'project',
      parent: 'INI-CLAIMS-AHEAD',
      tags: ['Rationalisation/Wave 1'],
      lifecycle: { active: -16, endOfLife: 8 },
    },
  ),
  initiative(
    'INI-FRAUD-NETWORK',
    'Fraud networks',
    'Added network scores to fraud detection; finished under budget.',
    plan('completed', 'high', 'low', [720_000, 655_000], [-24, -10]),
    { subtype: 'project', parent: 'INI-CLAIMS-AHEAD', lifecycle: { active: -24, endOfLife: -10 } },
  ),
  initiative(
    'INI-CLOUD-EXIT',
    'Out of Swindon',
    'Moves forty servers and the archive to the cloud or to the bin, in four waves.',
    plan('atRisk', 'medium', 'high', [3_300_000, 1_270_000], [-11, 20]),
    { subtype: 'program', lifecycle: { plan: -15, active: -11, endOfLife: 20 }, approval: 'APPROVED' },
  ),
  initiative(
    'INI-RESILIENCE',
    'Resilience by design',
    'Maps important services to what they stand on, sets tolerances and builds the tests.',
    plan('onTrack', 'high', 'medium', [1_250_000, 480_000], [-9, 9]),
    { subtype: 'project', tags: ['Regulation/DORA'], lifecycle: { plan: -12, active: -9, endOfLife: 9 } },
  ),
  initiative(
    'INI-ONE-CUSTOMER',
    'One customer record',
    'Introduces master data for customers, matches four million records and names stewards.',
    plan('onTrack', 'medium', 'medium', [1_480_000, 1_120_000], [-18, 5]),
    { subtype: 'project', tags: ['Regulation/GDPR'], lifecycle: { plan: -24, active: -18, endOfLife: 5 } },
  ),
  initiative(
    'INI-ASSISTANT',
    'Chat assistant',
    'Lets customers ask in their own words at any hour. Begins with documents and payments.',
    plan('onTrack', 'medium', 'low', [560_000, 190_000], [-7, 9]),
    { subtype: 'project', lifecycle: { plan: -10, active: -7, endOfLife: 9 } },
  ),
  initiative(
    'INI-ASSISTANT-VOICE',
    'Assistant on the telephone',
    'Epic that brings the assistant to the voice channel, if the chat proves itself.',
    plan('onHold', 'medium', 'medium', [240_000, 0], [6, 14]),
    { subtype: 'epic', parent: 'INI-ASSISTANT', lifecycle: { plan: -1, active: 6, endOfLife: 14 } },
  ),
  initiative(
    'INI-NEW-INTRANET',
    'New home for the intranet',
    'Replaces The Nest, whose product is out of support, by pages in the office suite.',
    plan('onTrack', 'low', 'low', [180_000, 65_000], [-3, 7]),
    { subtype: 'project', lifecycle: { plan: -6, active: -3, endOfLife: 7 } },
  ),
  initiative(
    'INI-PARAMETRIC',
    'Parametric flood cover',
    'Idea to pay a fixed sum when the river gauge passes a mark, without any assessment.',
    plan('onHold', 'medium', 'medium', [90_000, 12_000], [3, 12]),
    { subtype: 'idea', tags: ['Line of Business/Home'], lifecycle: { plan: 1 } },
  ),
];
