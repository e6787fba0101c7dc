import { ApiError } from '../http/api-error';

export const webhookErrors = {
  /** Names the rule, but not the URL, which may contain a token. `field` is the one that carried the URL. */
  refusedUrl: (rule: string, field = 'webhook') =>
    new ApiError(422, 'webhook_refused', `${field}: ${rule}`, { errors: [{ path: field, message: rule }] }),
  disabled: () =>
    new ApiError(409, 'webhooks_disabled', 'Webhooks are turned off by http.disable_webhooks in langgraph.json'),
  unknownDelivery: (deliveryId: string) =>
    new ApiError(404, 'delivery_not_found', `There is no webhook delivery ${deliveryId}`),
};
