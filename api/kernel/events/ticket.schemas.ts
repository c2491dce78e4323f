import Type from 'typebox';
import { component, OptionalText } from '../../../domain/kernel/shapes.ts';

/** A ticket for a client that cannot send a header, such as a link of a page. */
export const TicketSchema = component('Ticket', {
  ticket: Type.String({ description: 'The query parameter `ticket` of the operation that it opens, once' }),
  expires_in: Type.Integer({ description: 'Seconds' }),
});

export const TicketParameter = OptionalText(200, 'Replaces the Authorization header');
