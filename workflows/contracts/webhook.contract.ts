export const webhookWorkflowId = (deliveryId: string): string => `webhook-${deliveryId}`;

export interface WebhookDeliveryInput {
  deliveryId: string;
  /** Where a continued delivery resumes; the first attempt when absent. */
  attempt?: number;
}

export interface WebhookDeliveryResult {
  /** `missing`: the delivery's row is gone, with its tenant or by retention. */
  outcome: 'delivered' | 'failed' | 'cancelled' | 'missing';
  attempts: number;
}

export interface AttemptDeliveryInput {
  deliveryId: string;
  /** 1 for the first attempt. A repeated activity carries the same number and doesn't send what was answered already. */
  attempt: number;
}

/** Only numbers and fixed words: URLs, headers and payloads never enter a history. */
export type AttemptDeliveryResult =
  | { outcome: 'delivered' | 'failed' | 'cancelled' | 'missing' }
  /** The attempt failed; the next one follows after this time, which includes the receiver's Retry-After and the jitter. */
  | { outcome: 'retry'; retryInMs: number }
  /**
   * Nothing was sent, since the receiver's host has the maximum of deliveries in flight; the next try follows after this time.
   */
  | { outcome: 'busy'; retryInMs: number };

export interface WebhookActivities {
  /** One POST and its row in the log. An answer that means failure is a result, not an error. */
  attemptDelivery(input: AttemptDeliveryInput): Promise<AttemptDeliveryResult>;
  /** Writes the end of a delivery that an operator cancelled. Changes nothing when it has ended already. */
  cancelDelivery(input: { deliveryId: string }): Promise<void>;
}
