"""State of the queue for the operator's display, read from its parts."""

from __future__ import annotations

from telerobot_nodes.core.protocol import DeviceState, OperationKind
from telerobot_nodes.plan.queue.notices import Notices
from telerobot_nodes.plan.queue.plan_sync import PlanSync
from telerobot_nodes.plan.queue.queue_values import PlanQueueState, QueueConfig
from telerobot_nodes.plan.queue.recorder import Recorder


def queue_state(
    config: QueueConfig, recorder: Recorder, sync: PlanSync, notices: Notices, now: float
) -> PlanQueueState:
    """State at `now` [s]; nothing changes."""
    sampler, replication = recorder.sampler, sync.replication
    store, report, held = recorder.plan.store, replication.report, sync.hold_reason()
    stop = sync.collision_stop
    age = now - replication.report_time if report else -1.0
    waits = DeviceState.HELD if held or sampler.blocked else DeviceState.TRACKING
    return PlanQueueState(
        time_clutch=sampler.time_clutch,
        position_clutch=recorder.position_clutch,
        time_ratio=sampler.ratio,
        orientation_clutch=sampler.shaper.hand_scale.turns,
        linear_scale=sampler.shaper.hand_scale.linear,
        angular_scale=sampler.shaper.hand_scale.angular,
        brake_rate=recorder.brake.rate,
        device=waits if sampler.shaper.fresh(now) else DeviceState.IDLE,
        notice="; ".join(filter(None, (held, sampler.blocked, stop.reason(store), notices.latest))),
        stop_before_collision=stop.enabled,
        pass_singularities=sampler.reach.pass_singularities,
        jumps=notices.jumps,
        refused=notices.refused,
        head_seq=store.last_seq,
        head_time=store.last_time,
        length=sync.length,
        capacity=sync.capacity,
        trial_length=max(len(recorder.trial) - 1, 0),
        lead=max(store.last_time - report.plan_time, 0.0) if report and len(store) else 0.0,
        unacknowledged=replication.unacknowledged,
        reset_number=sync.number_sent(OperationKind.RESET),
        tare_number=sync.number_sent(OperationKind.TARE),
        resume_number=sync.number_sent(OperationKind.RESUME),
        epoch=report.epoch if report else 0,
        agent=config.agent,
        has_authority=replication.open,
        data_age=age,
        round_trip=replication.round_trip,
        stale=report is None or age > config.stale_after,
        execution_window=config.execution_window,
        gripper=recorder.path.gripper,
        target_pose=sampler.target,
    )
